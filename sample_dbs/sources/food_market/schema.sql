CREATE TABLE category (
    code TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    parent TEXT REFERENCES category (code)
);
CREATE TABLE supplier (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT,
    contact TEXT
);
CREATE TABLE product (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category TEXT NOT NULL REFERENCES category (code),
    supplier INTEGER REFERENCES supplier (id),
    "list price" REAL,
    unit TEXT,
    organic TEXT -- Y or N
);
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    first_name TEXT,
    last_name TEXT,
    city TEXT,
    since TEXT, -- DD.MM.YYYY
    newsletter TEXT -- Y or N
);
CREATE TABLE "order" (
    number INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customer (id),
    ordered_at TEXT NOT NULL, -- YYYY-MM-DD HH:MM
    status TEXT NOT NULL,
    channel TEXT
);
CREATE TABLE order_line (
    order_number INTEGER NOT NULL REFERENCES "order" (number),
    line INTEGER NOT NULL,
    product INTEGER NOT NULL REFERENCES product (id),
    quantity REAL NOT NULL,
    "unit price" REAL NOT NULL,
    "discount %" REAL,
    PRIMARY KEY (order_number, line)
);
CREATE TABLE delivery (
    order_number INTEGER PRIMARY KEY REFERENCES "order" (number),
    courier TEXT,
    delivered_on TEXT, -- DD.MM.YYYY
    rating INTEGER
);
CREATE TABLE stock (
    product INTEGER NOT NULL REFERENCES product (id),
    warehouse TEXT NOT NULL,
    quantity INTEGER,
    PRIMARY KEY (product, warehouse)
);
