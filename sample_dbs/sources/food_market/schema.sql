CREATE TABLE "group" (
    code TEXT PRIMARY KEY,
    "group name" TEXT NOT NULL,
    parent TEXT REFERENCES "group" (code)
);
CREATE TABLE supplier (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT,
    "contact name" TEXT
);
CREATE TABLE product (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    "group" TEXT NOT NULL REFERENCES "group" (code),
    supplier INTEGER REFERENCES supplier (id),
    "list price" REAL,
    unit TEXT,
    organic TEXT -- Y or N
);
CREATE TABLE customer (
    id INTEGER PRIMARY KEY,
    "first name" TEXT,
    "last name" TEXT,
    city TEXT,
    "customer since" TEXT, -- DD.MM.YYYY
    newsletter TEXT -- Y or N
);
CREATE TABLE "order" (
    number INTEGER PRIMARY KEY,
    customer INTEGER NOT NULL REFERENCES customer (id),
    "ordered at" TEXT NOT NULL, -- YYYY-MM-DD HH:MM
    status TEXT NOT NULL,
    channel TEXT
);
CREATE TABLE "order line" (
    "order" INTEGER NOT NULL REFERENCES "order" (number),
    line INTEGER NOT NULL,
    product INTEGER NOT NULL REFERENCES product (id),
    quantity REAL NOT NULL,
    "unit price" REAL NOT NULL,
    "discount %" REAL,
    PRIMARY KEY ("order", line)
);
CREATE TABLE delivery (
    "order" INTEGER PRIMARY KEY REFERENCES "order" (number),
    courier TEXT,
    "delivered on" TEXT, -- DD.MM.YYYY
    rating INTEGER
);
CREATE TABLE stock (
    product INTEGER NOT NULL REFERENCES product (id),
    warehouse TEXT NOT NULL,
    quantity INTEGER,
    PRIMARY KEY (product, warehouse)
);
