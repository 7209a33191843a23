CREATE TABLE branch (
    branch_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    district TEXT,
    opened TEXT,
    main_branch_id INTEGER REFERENCES branch (branch_id)
);
CREATE TABLE author (
    author_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT,
    born INTEGER
);
CREATE TABLE work (
    work_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    first_published INTEGER,
    language TEXT,
    genre TEXT
);
CREATE TABLE work_author (
    work_id INTEGER NOT NULL REFERENCES work (work_id),
    author_id INTEGER NOT NULL REFERENCES author (author_id),
    role TEXT NOT NULL, -- W = writer, T = translator, I = illustrator
    PRIMARY KEY (work_id, author_id, role)
);
CREATE TABLE copy (
    barcode TEXT PRIMARY KEY,
    work_id INTEGER NOT NULL REFERENCES work (work_id),
    branch_id INTEGER NOT NULL REFERENCES branch (branch_id),
    acquired TEXT,
    condition TEXT, -- G = good, W = worn, D = damaged
    price_cents INTEGER
);
CREATE TABLE patron (
    patron_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    "group" TEXT NOT NULL, -- ADU = adult, JUN = junior, SEN = senior
    home_branch_id INTEGER REFERENCES branch (branch_id),
    joined TEXT,
    email TEXT,
    blocked TEXT -- Y or N
);
CREATE TABLE loan (
    loan_id INTEGER PRIMARY KEY,
    barcode TEXT NOT NULL REFERENCES copy (barcode),
    patron_id INTEGER NOT NULL REFERENCES patron (patron_id),
    lent_on TEXT NOT NULL,
    due_on TEXT NOT NULL,
    returned_on TEXT,
    status TEXT NOT NULL, -- L = on loan, R = returned, X = lost
    renewals INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE fine (
    fine_id INTEGER PRIMARY KEY,
    loan_id INTEGER NOT NULL REFERENCES loan (loan_id),
    amount_cents INTEGER NOT NULL,
    raised_on TEXT,
    paid TEXT NOT NULL -- Y or N
);
CREATE VIEW overdue_loan AS
SELECT loan_id, barcode, patron_id, due_on
FROM loan
WHERE status = 'L' AND due_on < '2026-01-01';
