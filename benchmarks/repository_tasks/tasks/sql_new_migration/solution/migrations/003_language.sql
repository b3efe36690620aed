ALTER TABLE books ADD COLUMN language TEXT NOT NULL DEFAULT 'en';

CREATE INDEX books_by_language ON books (language);
