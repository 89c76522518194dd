import type { Fault } from '../fault.ts';

export const JOB_FAULTS = [
  {
    name: 'work is submitted again after a crash',
    file: 'src/jobs/steps/send.ts',
    text: `    case 'callback':
      waitForCallback(run, deps);
      return 'now';
    case 'poll':`,
    replacement: `    case 'callback':
      run.apply({ type: 'notTaken' });
      return 'now';
    case 'poll':`,
    tests: { 'test/jobs/crashes.test.ts': 'keeps what was accepted' },
  },
  {
    name: 'a picture is paid for again after a crash',
    file: 'src/jobs/steps/send.ts',
    text: `    case 'direct':
      fail(run, { code: 'interrupted', sentence: UNCERTAIN_SENTENCE, reference });`,
    replacement: `    case 'direct':
      run.apply({ type: 'notTaken' });`,
    tests: { 'test/jobs/crashes.test.ts': 'keeps what was accepted' },
  },
  {
    name: 'work whose answer was lost is submitted again',
    file: 'src/jobs/steps/failure.ts',
    text: `if (error.taken === 'unknown' && PLANS[job.work.route].comesBack === 'callback') {
    waitForCallback(run, deps);`,
    replacement: `if (error.taken === 'unknown' && PLANS[job.work.route].comesBack === 'callback') {
    run.apply({ type: 'notTaken' });`,
    tests: {
      'test/jobs/runner/runner.test.ts':
        'that may have been taken waits for the callback instead of paying twice',
    },
  },
  {
    name: 'the request is not written ahead',
    file: 'src/jobs/runner/run.ts',
    text: 'isWritten = await this.#write();',
    replacement: 'isWritten = true;',
    tests: { 'test/jobs/crashes.test.ts': 'keeps what was accepted' },
  },
  {
    name: 'a run that another one overtook submits all the same',
    file: 'src/jobs/steps/begin.ts',
    text: "return isOurs ? sendWork(run, signal, deps) : 'now';",
    replacement: 'return isOurs ? sendWork(run, signal, deps) : sendWork(run, signal, deps);',
    tests: { 'test/jobs/runner/runner.test.ts': 'is made by one of two runs of the same job' },
  },
  {
    name: 'the lease is not checked: a run that was suspended asks the gateway',
    file: 'src/jobs/runner/run.ts',
    text: 'if (!this.#isHeld()) throw',
    replacement: "if (!this.#isHeld() && this.#job.id === '') throw",
    tests: {
      'test/jobs/runner/runner.test.ts': 'is not made by a run that was suspended for longer than its lease',
    },
  },
  {
    name: 'work is accepted before it is stored',
    file: 'src/jobs/jobs.ts',
    text: `const answer = await orDecline(() =>
        storage.accept({ job, reservation, ceilings, at, now: job.createdAt }),
      );`,
    replacement: `storage.accept({ job, reservation, ceilings, at, now: job.createdAt }).catch(() => undefined);
      const answer = { type: 'accepted' } as Awaited<ReturnType<typeof storage.accept>>;`,
    tests: {
      'test/jobs/storage-away.test.ts': 'work is declined with a sentence, and nothing comes of it later',
    },
  },
  {
    name: 'a callback counts as stored before it is',
    file: 'src/jobs/jobs.ts',
    text: 'storage.receive({ job, body, receivedAt: now(), kind: readMusicStage(body) }),',
    replacement:
      "(async () => (void storage.receive({ job, body, receivedAt: now() }).catch(() => {}), 'stored' as const))(),",
    tests: {
      'test/jobs/storage-away.test.ts': 'a callback is not taken, so that the gateway sends it again',
    },
  },
  {
    name: 'what was posted is not remembered at once',
    file: 'src/jobs/steps/message.ts',
    text: `run.apply({ type: 'recorded', fields: { posted } });
      await run.save();`,
    replacement: "run.apply({ type: 'recorded', fields: { posted } });",
    tests: { 'test/jobs/runner/runner.test.ts': 'knows its message as soon as that stands' },
  },
  {
    name: 'what is shown already is shown again',
    file: 'src/jobs/steps/message.ts',
    text: 'if (shown === run.job.shown) return;',
    replacement: '',
    tests: { 'test/jobs/runner/runner.test.ts': 'is not written again where it says what it should' },
  },
  {
    name: 'a job that ended is opened again by a failure',
    file: 'src/jobs/transitions.ts',
    text: '  completed: complete,\n  failed: ignore,',
    replacement: '  completed: complete,\n  failed: fail,',
    tests: { 'test/jobs/record.test.ts': 'is opened again by no failure, refusal or deadline' },
  },
  {
    name: 'a job that was delivered is delivered again by the same result',
    file: 'src/jobs/transitions.ts',
    text: "if (job.end === 'delivered' && (isForeign || !holdsMore(merged, job.result))) return named(job, taskId);",
    replacement: '',
    tests: {
      'test/jobs/transitions.test.ts': 'delivers the one that came first unless a later one holds more',
      'test/jobs/duplicates.test.ts': 'a thousand duplicate callbacks at once on SQLite: one delivery',
    },
  },
  {
    name: 'work that was not taken is told as lost by a run that found it interrupted',
    file: 'src/jobs/transitions.ts',
    text: "failed: (job, event) => (event.failure.taken === 'unknown' ? job : fail(job, event)),",
    replacement: 'failed: fail,',
    tests: {
      'test/simulation/found.test.ts':
        'a replica is suspended with the refusal of a picture that another finds interrupted',
      'test/jobs/record.test.ts': 'is not told to be lost where the gateway surely did not take it',
    },
  },
  {
    name: 'an answer that was told as lost is thrown away',
    file: 'src/jobs/transitions.ts',
    text: "if (job.end !== 'cancelled' && !isLost) return job;",
    replacement: "if (job.end !== 'cancelled') return job;",
    tests: {
      'test/simulation/found.test.ts': 'and brings it when another has told it as lost',
      'test/jobs/record.test.ts': 'is left by an answer to a request that was told as lost',
    },
  },
  {
    name: 'the end is told to nobody where two runs showed it and the channel is gone',
    file: 'src/jobs/steps/repair.ts',
    text: 'await tellElsewhere(run, error, signal, deps);',
    replacement: '',
    tests: { 'test/simulation/found.test.ts': 'its channel is gone when that is put right' },
  },
  {
    name: 'cancelled work is paid for',
    file: 'src/jobs/transitions.ts',
    text: `submitting: (job, { work, at, lyrics }) =>
      job.cancelRequestedBy === undefined
        ?`,
    replacement: `submitting: (job, { work, at, lyrics }) =>
      job.id !== ''
        ?`,
    tests: { 'test/jobs/transitions.test.ts': 'asks for paid work only when no one asked to end it' },
  },
  {
    name: 'failed work counts as used',
    file: 'src/jobs/steps/deliver.ts',
    text: "return failure?.taken === 'unknown' ? 'uncertain' : 'no';",
    replacement: "return failure?.taken === 'unknown' ? 'uncertain' : 'yes';",
    tests: { 'test/settings/limits/metering.test.ts': 'no more when it failed: more is allowed at once' },
  },
  {
    name: 'uncertain work does not count',
    file: 'src/jobs/steps/deliver.ts',
    text: "return failure?.taken === 'unknown' ? 'uncertain' : 'no';",
    replacement: "return 'no';",
    tests: {
      'test/settings/limits/metering.test.ts': 'as uncertain when it is unknown whether the gateway took it',
    },
  },
  {
    name: 'a slot of the queue is never freed',
    file: 'src/jobs/runner/runner.ts',
    text: 'if (run.job.attempts === 0) await releaseSlot(run.job, deps);',
    replacement: '',
    tests: { 'test/jobs/steps/queue.test.ts': 'lets the next one in when a song is there' },
  },
  {
    name: 'Retry-After of the gateway is ignored when work is brought again',
    file: 'src/jobs/steps/failure.ts',
    text: "run.apply({ type: 'notTaken', ...(retryAfterMs === undefined ? {} : { until: again }) });",
    replacement: "run.apply({ type: 'notTaken' });",
    tests: { 'test/jobs/steps/retry-after.test.ts': 'is not brought earlier, whatever else wakes the job' },
  },
  {
    name: 'Retry-After of the platform is ignored',
    file: 'src/jobs/runner/run.ts',
    text: "run.apply({ type: 'retried', ...(retryAfterMs === undefined ? {} : { held: { showing: again } }) });",
    replacement: "run.apply({ type: 'retried' });",
    tests: { 'test/jobs/steps/retry-after.test.ts': 'a platform that asks for patience gets it' },
  },
  {
    name: 'the sweep wakes no one',
    file: 'src/jobs/runner/sweep.ts',
    text: 'await deps.storage.schedule.wake(id, deps.now() + GRACE_MS + (woken * 1_000) / WOKEN_PER_SECOND);',
    replacement: '',
    tests: { 'test/jobs/start.test.ts': 'jobs whose timer was lost are found and woken' },
  },
  {
    name: 'a first listen is not kept, and its address ends',
    file: 'src/jobs/steps/message.ts',
    text: 'if (early) await keepMedia(run, early, { signal }, deps);',
    replacement: '',
    tests: {
      'test/jobs/runner/runner.test.ts': 'shows lyrics, then the first take, in the message that stands',
    },
  },
  {
    name: 'what was kept is not recorded, and its address ends before the message is shown',
    file: 'src/jobs/steps/keep.ts',
    text: 'if (Object.keys(found).length + Object.keys(tagged).length > 0)',
    replacement: 'if (Object.keys(tagged).length > 99)',
    tests: {
      'test/jobs/steps/media-faults.test.ts': 'that goes away between keeping and posting ends in links',
    },
  },
  {
    name: 'an answer that a crash cut short passes for whole',
    file: 'src/jobs/steps/send.ts',
    text: "const broken = { ...answer, finish: { reason: 'broken' as const } };",
    replacement: "const broken = { ...answer, finish: { reason: 'stop' as const } };",
    tests: {
      'test/jobs/runner/runner.test.ts': 'that was cut short by a crash keeps the words that were stored',
    },
  },
  {
    name: 'a person is told twice that a request was forgotten',
    file: 'src/jobs/pending-acknowledgements.ts',
    text: 'else if (await claim(key)) done',
    replacement: 'else done',
    tests: {
      'test/jobs/pending-acknowledgements.test.ts':
        'is told once to the person alone, whose messages have no key',
    },
  },
  {
    name: 'a request that its process still works on is told as forgotten by another',
    file: 'src/jobs/pending-acknowledgements.ts',
    text: '? { ...entry, madeAt: now() }\n',
    replacement: '? entry\n',
    tests: {
      'test/jobs/pending-acknowledgements.test.ts':
        'of another replica is not told while that one still works on it, however long that takes',
    },
  },
  {
    name: 'a request that a process still works on is told as forgotten by itself',
    file: 'src/jobs/pending-acknowledgements.ts',
    text: '(!working.has(key) && (',
    replacement: '((',
    tests: {
      'test/jobs/pending-acknowledgements.test.ts':
        'is told by its own process once it gave up, and not before',
    },
  },
  {
    name: 'a person whom Slack lets nobody tell is never told',
    file: 'src/platforms/slack/receive/answering.ts',
    text: 'await bot.tellLater?.(asking);',
    replacement: '',
    tests: { 'test/platforms/slack/receive/questions.test.ts': 'what a command answers is told later' },
  },
  {
    name: 'a result is written over by the sentence that its request was forgotten',
    file: 'src/jobs/pending-acknowledgements.ts',
    text: 'if (await wasStored(key, entry)) await remove(key);\n      else if (await claim(key))',
    replacement: 'if (await claim(key))',
    tests: { 'test/jobs/pending-acknowledgements.test.ts': 'is not told where it was stored after all' },
  },
  {
    name: 'a run that was overtaken settles what its job was given back',
    file: 'src/jobs/steps/deliver.ts',
    text: 'run.assertHeld();',
    replacement: '',
    tests: {
      'test/simulation/found.test.ts':
        'in which a run that stood still reads callbacks of a job that failed meanwhile',
    },
  },
  {
    name: 'what was posted is not stored where storage was away for a moment',
    file: 'src/jobs/runner/run.ts',
    text: 'if (!isWorthIt || !this.#options) throw error;',
    replacement: 'throw error;',
    tests: {
      'test/jobs/runner/run.test.ts': 'is stored as soon as storage is back',
      'test/simulation/found.test.ts':
        'in which storage is away for a moment once a first message was posted',
    },
  },
  {
    name: 'paid work that was not sent is recorded as sent, with what was posted before it',
    file: 'src/jobs/runner/run.ts',
    text: 'this.#job = before.reduce(transition, this.#stored);\n      if',
    replacement: 'if',
    tests: { 'test/jobs/runner/run.test.ts': 'and the claim is not' },
  },
  {
    name: 'a run takes its own write for that of another replica, where the answer was lost',
    file: 'src/jobs/runner/run.ts',
    text: 'if (job && isDeepStrictEqual',
    replacement: 'if (false && job && isDeepStrictEqual',
    tests: { 'test/jobs/runner/run.test.ts': 'is stored once where only the answer to the write was lost' },
  },
  {
    name: 'what could be shown nowhere is shown to somebody else',
    file: 'src/jobs/transitions.ts',
    text: 'if (job.undelivered !== true || job.person.id !== person) return job;',
    replacement: 'if (job.undelivered !== true) return job;',
    tests: { 'test/jobs/undelivered.test.ts': 'is no one else’s to show' },
  },
  {
    name: 'work of a backup that may have begun afterwards is asked for again',
    file: 'src/jobs/transitions.ts',
    text: "restored: (job, event) => fail(restore(job, event), { type: 'failed', failure: event.failure }),",
    replacement: 'restored: restore,',
    tests: { 'test/jobs/restored.test.ts': 'what had not begun is not asked for, and its person is told' },
  },
  {
    name: 'a failure is written over a result that came after the backup',
    file: 'src/jobs/steps/deliver.ts',
    text: 'if (await endedBefore(run.job, deps)) return close(run, deps);',
    replacement: '',
    tests: {
      'test/jobs/restored.test.ts':
        'what was delivered after the copy stays as it is: no failure is written over it',
    },
  },
] as const satisfies readonly Fault[];
