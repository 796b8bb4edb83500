-- The previous version may run beside this migration.

-- The change feed lists the nonprofits of one import after the other.
create index nonprofit_history_revision on nonprofit_history (revision, ein);
