ALTER TABLE books ADD COLUMN language TEXT DEFAULT 'en';

CREATE INDEX books_by_language ON books (language);
