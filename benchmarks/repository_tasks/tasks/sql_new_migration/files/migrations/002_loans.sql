CREATE TABLE loans (
    book INTEGER NOT NULL REFERENCES books (id),
    reader TEXT NOT NULL,
    due TEXT NOT NULL
);

CREATE INDEX loans_by_reader ON loans (reader);
