CREATE TABLE Station (
    Code TEXT PRIMARY KEY,
    Name TEXT NOT NULL,
    Zone INTEGER,
    Borough TEXT,
    StepFree TEXT, -- Y, N, or NULL where nobody has checked
    OpenedYear INTEGER
);
CREATE TABLE Line (
    LineCode TEXT PRIMARY KEY,
    Name TEXT NOT NULL,
    Colour TEXT,
    HomeDepot TEXT
);
CREATE TABLE LineStop (
    LineCode TEXT NOT NULL REFERENCES Line (LineCode),
    "Order" INTEGER NOT NULL,
    StationCode TEXT NOT NULL REFERENCES Station (Code),
    KmFromStart REAL NOT NULL,
    PRIMARY KEY (LineCode, "Order")
);
CREATE TABLE TrainSet (
    SetNo INTEGER PRIMARY KEY,
    Series TEXT NOT NULL,
    Seats INTEGER,
    BuiltYear INTEGER,
    InService TEXT NOT NULL -- Y or N
);
CREATE TABLE Staff (
    StaffNo INTEGER PRIMARY KEY,
    Name TEXT NOT NULL,
    Role TEXT NOT NULL, -- DRV = driver, SUP = supervisor, CTL = controller
    ReportsTo INTEGER REFERENCES Staff (StaffNo),
    HiredOn INTEGER NOT NULL -- YYYYMMDD
);
CREATE TABLE Trip (
    TripNo INTEGER PRIMARY KEY,
    LineCode TEXT NOT NULL REFERENCES Line (LineCode),
    SetNo INTEGER REFERENCES TrainSet (SetNo),
    Driver INTEGER REFERENCES Staff (StaffNo),
    RunDate INTEGER NOT NULL, -- YYYYMMDD
    Departs TEXT NOT NULL, -- HHMM
    Direction TEXT NOT NULL, -- U = up, D = down
    Cancelled INTEGER NOT NULL -- 1 = cancelled, 0 = ran
);
CREATE TABLE DelayCause (
    CauseCode TEXT PRIMARY KEY,
    Description TEXT NOT NULL,
    OurFault TEXT NOT NULL -- Y or N
);
CREATE TABLE Delay (
    TripNo INTEGER NOT NULL REFERENCES Trip (TripNo),
    StationCode TEXT NOT NULL REFERENCES Station (Code),
    Minutes INTEGER NOT NULL,
    CauseCode TEXT REFERENCES DelayCause (CauseCode),
    PRIMARY KEY (TripNo, StationCode)
);
