import keyvTestSuite from '@keyv/test-suite';
import { Keyv } from 'keyv';
import * as vitest from 'vitest';
import { SqliteDatabase } from '../../../src/storage/sqlite/database.ts';
import { SqliteKeyvStore } from '../../../src/storage/sqlite/keyv.ts';

vitest.describe('the Keyv store on SQLite passes the suite that Keyv publishes', () => {
  const database = new SqliteDatabase(':memory:');
  vitest.afterAll(() => database.close());
  // The suite was typed for vitest 4; it takes only what both versions have.
  const suiteTest = vitest as unknown as Parameters<typeof keyvTestSuite>[0];
  keyvTestSuite(suiteTest, Keyv, () => new SqliteKeyvStore(database));
});
