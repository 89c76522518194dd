/** The thread that reads the whole file of {@link findDamage} once: on a large one that takes a while. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

// Sound: findDamage gives it.
const path = workerData as string;
const connection = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
// https://www.sqlite.org/pragma.html#pragma_quick_check: one row that says ok, or the first thing that is wrong.
const found = connection.prepare('PRAGMA quick_check(1)').get();
connection.close();
parentPort?.postMessage(found?.quick_check === 'ok');
