import { join } from 'node:path';

/** The path of the database in a data directory. */
export const databaseFile = (directory: string): string => join(directory, 'minstrel.sqlite');
