-- Makes of a database of today what a version without sharing left.
ALTER TABLE claims DROP COLUMN shared;
ALTER TABLE claims DROP COLUMN speaker;
ALTER TABLE claims DROP COLUMN appearance;
ALTER TABLE claims DROP COLUMN said_on;
ALTER TABLE lists DROP COLUMN shared;
ALTER TABLE lists DROP COLUMN csv_separator;
ALTER TABLE lists DROP COLUMN csv_decimal_mark;
DROP TABLE compared_checks;
CREATE TABLE sessions (digest VARCHAR(64) PRIMARY KEY, user VARCHAR(50), ends_at DATETIME);
INSERT INTO sessions SELECT digest, user, ends_at FROM credentials WHERE kind = 'session';
ALTER TABLE users ADD COLUMN digest VARCHAR(64);
UPDATE users SET digest =
    (SELECT digest FROM credentials WHERE user = users.name AND kind = 'token');
DROP TABLE credentials;
DROP TABLE group_members;
UPDATE alembic_version SET version_num = 'list_files_0015';
