CREATE TABLE countries (
    code TEXT PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE films (
    id INTEGER PRIMARY KEY,
    original_title TEXT NOT NULL,
    english_title TEXT, -- NULL where the original title is English
    country_code TEXT REFERENCES countries (code),
    year INTEGER,
    runtime TEXT, -- in minutes, as '97 min'
    genre TEXT
);
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    country_code TEXT REFERENCES countries (code),
    birth_year INTEGER
);
CREATE TABLE credits (
    film_id INTEGER NOT NULL REFERENCES films (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    job TEXT NOT NULL, -- DIR = director, ACT = actor, SCR = screenwriter, CAM = camera
    PRIMARY KEY (film_id, person_id, job)
);
CREATE TABLE venues (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT,
    seats INTEGER,
    wheelchair TEXT NOT NULL -- Y or N
);
CREATE TABLE screenings (
    id INTEGER PRIMARY KEY,
    film_id INTEGER NOT NULL REFERENCES films (id),
    venue_id INTEGER NOT NULL REFERENCES venues (id),
    starts_at TEXT NOT NULL, -- YYYY-MM-DD HH:MM
    section TEXT NOT NULL,
    with_guest TEXT NOT NULL -- Y or N
);
CREATE TABLE tickets (
    id INTEGER PRIMARY KEY,
    screening_id INTEGER NOT NULL REFERENCES screenings (id),
    kind TEXT NOT NULL, -- F = full, R = reduced, P = press
    price_cents INTEGER,
    sold_on TEXT, -- DD.MM.YYYY
    used TEXT NOT NULL -- Y or N
);
CREATE TABLE prizes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    "values" INTEGER -- prize money in euros
);
CREATE TABLE nominations (
    prize_id INTEGER NOT NULL REFERENCES prizes (id),
    film_id INTEGER NOT NULL REFERENCES films (id),
    result TEXT NOT NULL, -- W = won, N = nominated only
    PRIMARY KEY (prize_id, film_id)
);
CREATE VIEW programme AS
SELECT f.original_title, v.name AS venue, s.starts_at, s.section
FROM screenings AS s
JOIN films AS f ON f.id = s.film_id
JOIN venues AS v ON v.id = s.venue_id;
