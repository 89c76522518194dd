import type { Fault } from '../fault.ts';

/** In what one run of a job knows, and what is left for the next. */
export const RUN_FAULTS = [
  {
    name: 'an answer of the gateway is dropped where storage was away for a moment',
    file: 'src/jobs/runner/run.ts',
    text: 'const isAnswer = this.#events.some(({ type }) => ANSWERS.has(type));',
    replacement: 'const isAnswer = false;',
    tests: { 'test/jobs/runner/run.test.ts': "the gateway's answer to paid work" },
  },
  {
    name: 'work that another replica begins late is refused though it was acknowledged',
    file: 'src/jobs/runner/runner.ts',
    text: 'dueAt ?? deps.now()',
    replacement: 'deps.now()',
    tests: {
      'test/jobs/cancelling.test.ts':
        'goes on where its platform had begun it, though another process runs it, and late',
    },
  },
  {
    name: 'on Redis a timer that is moved keeps the time that it had first',
    file: 'src/storage/redis/schedule/schedule.ts',
    text: "timer['at'] = at\n",
    replacement: '',
    tests: {
      'test/storage/redis/redis.test.ts': 'a run is told for when it was scheduled, however late it is',
    },
  },
  {
    name: 'a host of files holds a result back for as long as it likes',
    file: 'src/jobs/steps/deliver.ts',
    text: 'Math.min(retryAfterMs, LONGEST_FILE_HOLD_MS)',
    replacement: 'retryAfterMs',
    tests: {
      'test/jobs/steps/retry-after.test.ts':
        'does not keep the rest of the result back, and is fetched again within ten minutes',
    },
  },
  {
    name: 'an answer that is stopped before it was asked for counts',
    file: 'src/jobs/ask/answer.ts',
    text: "Next {\n  run.apply({ type: 'notTaken' });",
    replacement: 'Next {',
    tests: { 'test/jobs/cancelling.test.ts': 'counts for nothing where the gateway was not asked yet' },
  },
  {
    name: 'work that was cancelled counts though the gateway refused it',
    file: 'src/jobs/transitions.ts',
    text: "notTaken: (job) => (job.end === 'cancelled' ? withoutRequest(job) : job),",
    replacement: 'notTaken: ignore,',
    tests: { 'test/jobs/cancelling.test.ts': 'counts for nothing where it refuses' },
  },
  {
    name: 'work that was cancelled does not count though the gateway calls back for it',
    file: 'src/jobs/steps/deliver.ts',
    text: "if (taskId !== undefined || result !== undefined) return 'yes';\n      return submittedAt === undefined ? 'no' : 'uncertain';",
    replacement:
      "if (submittedAt === undefined) return 'no';\n      return taskId === undefined && result === undefined ? 'uncertain' : 'yes';",
    tests: { 'test/jobs/cancelling.test.ts': 'counts where the gateway calls back for what it had refused' },
  },
  {
    name: 'what was shown after all can be posted a second time',
    file: 'src/jobs/transitions.ts',
    text: 'function ready({ undelivered: _, ...job }: Job,',
    replacement: 'function ready(job: Job,',
    tests: { 'test/jobs/undelivered.test.ts': 'is not offered any more once its late result was shown' },
  },
  {
    name: 'a replica that was suspended while a timer came runs it beside another',
    file: 'src/storage/redis/schedule/lease-worker.ts',
    text: 'this.#lockedAt.set(timer.id, at);',
    replacement: 'this.#lockedAt.set(timer.id, this.#elapsed());',
    tests: { 'test/storage/redis/replicas.test.ts': 'nor when it was suspended while its timer came' },
  },
  {
    name: 'a look for lost work that failed is not repeated',
    file: 'src/jobs/runner/lost.ts',
    text: "const newest = await storage.secret('epoch', newId);\n      const wasEmptied = epoch !== undefined && epoch !== newest;",
    replacement:
      "const before = epoch;\n      const newest = await storage.secret('epoch', newId);\n      epoch = newest;\n      const wasEmptied = before !== undefined && before !== newest;",
    tests: { 'test/jobs/runner/lost.test.ts': 'goes away in the middle of the look is looked at again' },
  },
  {
    name: 'a person whose work was lost while the chat was away is never told',
    file: 'src/jobs/runner/lost.ts',
    text: 'if (isDone) untold.delete(id);',
    replacement: 'untold.delete(id);',
    tests: { 'test/jobs/runner/lost.test.ts': 'is told at a later look, once' },
  },
] as const satisfies readonly Fault[];
