import { afterAll, describe, expect, test } from 'vitest';
import { type History, QUIET, type Request } from './history.ts';
import { PLANTS } from './plants.ts';
import { Simulator } from './simulate.ts';

const simulator = new Simulator();
afterAll(() => simulator.close());

const unchecked = PLANTS.find(({ breaks }) => breaks.includes('one writer')) ?? {};
const request = (kind: Request['kind'], more: Partial<Request> = {}): Request => ({
  kind,
  afterMs: 0,
  twice: false,
  ...more,
});

/** The shortest histories that once broke a promise. */
describe('a failure found earlier keeps every promise', () => {
  const leases: readonly (History & { readonly what: string })[] = [
    {
      what: 'is suspended before it posts, and dies after it has posted',
      ...QUIET,
      replicas: 2,
      requests: [request('song')],
      faults: [
        { type: 'freeze', afterSteps: 42, replica: 0, forMs: 20_000 },
        { type: 'die', afterSteps: 32, replica: 0, forMs: 0 },
      ],
    },
    {
      what: 'is suspended while it writes an answer, continues it, and dies',
      ...QUIET,
      replicas: 2,
      requests: [request('question')],
      answers: ['slow'],
      faults: [
        { type: 'freeze', afterSteps: 42, replica: 0, forMs: 20_000 },
        { type: 'die', afterSteps: 49, replica: 0, forMs: 0 },
      ],
    },
    {
      what: 'is suspended while a model runs a command, and returns the result to the model',
      ...QUIET,
      seed: 18,
      replicas: 2,
      requests: [request('song'), request('question with tools')],
      faults: [
        { type: 'die', afterSteps: 14, replica: 1, forMs: 20_000 },
        { type: 'lose timers', afterSteps: 5, replica: 0, forMs: 0 },
        { type: 'freeze', afterSteps: 47, replica: 0, forMs: 20_000 },
      ],
    },
  ];

  test.each(leases)('a replica $what', async ({ what: _, ...history }) => {
    expect((await simulator.play(history)).broken).toEqual([]);
  });

  test.each(leases.slice(0, 2))(
    'without its check, it fails if a replica $what',
    async ({ what: _, ...history }) => {
      expect((await simulator.play(history, unchecked)).broken).toMatchObject([{ invariant: 'one writer' }]);
    },
  );

  test('a Retry-After of the gateway arrives while the bot is stopping', async () => {
    const { broken } = await simulator.play({
      ...QUIET,
      seed: 15,
      replicas: 2,
      requests: [request('question with tools', { twice: true })],
      faults: [{ type: 'stop', afterSteps: 57, replica: 1, forMs: 0 }],
      paid: [{ type: 'busy', retryAfterMs: 600_000 }],
    });
    expect(broken).toEqual([]);
  });

  test('a replica is suspended between two paid requests of an answer, and the requester cancels', async () => {
    const { broken } = await simulator.play({
      ...QUIET,
      requests: [request('question with tools', { twice: true }), request('song')],
      presses: [{ button: 'cancel', request: 0, afterMs: 5_000 }],
      faults: [
        { type: 'die', afterSteps: 24, replica: 0, forMs: 0 },
        { type: 'freeze', afterSteps: 56, replica: 0, forMs: 60_000 },
      ],
      paid: [{ type: 'taken', answerAfterMs: 8_000 }],
    });
    expect(broken).toEqual([]);
  });

  test('a first message, its timer and the process are lost together, and the requester cancels', async () => {
    const { broken } = await simulator.play({
      ...QUIET,
      seed: 630_525_018,
      requests: [request('song'), request('song')],
      presses: [{ button: 'cancel', request: 0, afterMs: 3_000_000 }],
      faults: [
        { type: 'die', afterSteps: 56, replica: 0, forMs: 0 },
        { type: 'lose timers', afterSteps: 22, replica: 0, forMs: 0 },
      ],
      channel: ['answer lost', 'shown', 'refused'],
      storage: [{ after: 29, reply: 'away', times: 5 }],
    });
    expect(broken).toEqual([]);
  });

  test('the chat loses responses, and then limits the bot', async () => {
    const { broken } = await simulator.play({
      ...QUIET,
      requests: [request('picture')],
      channel: ['shown', 'answer lost', 'answer lost', 'answer lost', 'limited'],
      media: ['away', 'away'],
    });
    expect(broken).toEqual([]);
  });

  test('the chat limits the bot while it repairs messages of an interrupted run', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      requests: [request('song', { twice: true })],
      presses: [{ button: 'cancel', request: 0, afterMs: 500 }],
      channel: ['shown', 'shown', 'shown', 'limited'],
      storage: [{ after: 35, reply: 'answer lost', times: 1 }],
    });
    expect(trace.join('\n')).toMatch(/deletes messages [\s\S]*limited/);
    expect(broken).toEqual([]);
  });

  test('a finished video cannot be fetched, and the gateway is too busy to return a fresh URL', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      requests: [request('video', { twice: true })],
      outcomes: [{ stages: { text: 0, first: 0, complete: 0 }, copies: 1 }],
      polls: ['answered', 'busy'],
      media: ['not there', 'not there'],
    });
    expect(trace.join('\n')).toMatch(/not there[\s\S]*busy/);
    expect(broken).toEqual([]);
  });

  test('an answer is stopped while the gateway is too busy to accept its question', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 666_856_228,
      replicas: 2,
      requests: [request('question')],
      presses: [{ button: 'cancel', request: 0, afterMs: 500 }],
      faults: [{ type: 'die', afterSteps: 22, replica: 0, forMs: 2_700_000 }],
      paid: [{ type: 'busy' }],
    });
    expect(trace.join('\n')).toMatch(/presses cancel [\s\S]*busy/);
    expect(broken).toEqual([]);
  });

  test('a replica is suspended with the refusal of an image that another one finds interrupted', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 1_655_876_559,
      replicas: 2,
      requests: [request('song'), request('painting'), request('song', { afterMs: 1_000 })],
      faults: [
        { type: 'die', afterSteps: 26, replica: 1, forMs: 60_000 },
        { type: 'freeze', afterSteps: 52, replica: 0, forMs: 60_000 },
      ],
      paid: [{ type: 'busy', retryAfterMs: 30_000 }],
    });
    expect(trace.join('\n')).toMatch(/busy: [\s\S]*continues/);
    expect(broken).toEqual([]);
  });

  test.each(['picture', 'painting', 'video'] as const)(
    'a replica is suspended during the request for a %s, and gets the result after another has reported it as lost',
    async (kind) => {
      const { broken, trace } = await simulator.play({
        ...QUIET,
        seed: 6,
        replicas: 2,
        requests: [request(kind), request('song', { afterMs: 90_000 })],
        faults: [{ type: 'freeze', afterSteps: 52, replica: 0, forMs: 60_000 }],
        paid: [{ type: 'taken', answerAfterMs: 8_000 }],
      });
      expect(trace.join('\n')).toMatch(
        /I lost the connection[\s\S]*continues[\s\S]*edits message-1 \(1 files\)/,
      );
      expect(broken).toEqual([]);
    },
  );

  test('two replicas die while both show the end, and the channel is gone when that is repaired', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 707_686_083,
      replicas: 2,
      requests: [request('song')],
      presses: [{ button: 'cancel', request: 0, afterMs: 500 }],
      faults: [
        { type: 'freeze', afterSteps: 45, replica: 0, forMs: 20_000 },
        { type: 'die', afterSteps: 48, replica: 1, forMs: 0 },
        { type: 'die', afterSteps: 0, replica: 0, forMs: 0 },
      ],
      channel: [
        'limited',
        'shown',
        'answer lost',
        ...Array.from({ length: 8 }, () => 'file missing' as const),
        'gone',
      ],
      storage: [{ after: 52, reply: 'away', times: 1 }],
    });
    expect(trace.join('\n')).toMatch(/deletes messages [\s\S]*gone/);
    expect(broken).toEqual([]);
  });

  test('storage is down for a moment after a first message was posted, and its timer is lost', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 1_068_975_383,
      replicas: 2,
      requests: [request('song'), request('song', { twice: true }), request('song', { twice: true })],
      presses: [
        { button: 'cancel', request: 0, afterMs: 500 },
        { button: 'cancel', request: 2, afterMs: 5_000 },
        { button: 'cancel', request: 0, afterMs: 500 },
      ],
      faults: [
        { type: 'freeze', afterSteps: 9, replica: 0, forMs: 0 },
        { type: 'lose timers', afterSteps: 49, replica: 0, forMs: 0 },
        { type: 'lose timers', afterSteps: 42, replica: 0, forMs: 0 },
      ],
      storage: [{ after: 40, reply: 'away', times: 1 }],
    });
    expect(trace.join('\n')).toMatch(/posts for [\s\S]*away\n.*loses the timers/);
    expect(broken).toEqual([]);
  });

  test('a person cancels while a run posts, storage is down when it reads that, and the timers are lost', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 267_449_169,
      store: 'sqlite',
      requests: [request('song')],
      presses: [{ button: 'cancel', request: 0, afterMs: 0 }],
      faults: [{ type: 'lose timers', afterSteps: 35, replica: 0, forMs: 0 }],
      storage: [{ after: 15, reply: 'away', times: 1 }],
    });
    expect(trace.join('\n')).toMatch(/presses cancel[\s\S]*posts for [\s\S]*away\n.*loses the timers/);
    expect(broken).toEqual([]);
  });

  test('two checks for a cancellation overtake each other before the question is sent', async () => {
    const { broken } = await simulator.play({
      ...QUIET,
      seed: 1_506_086_306,
      store: 'sqlite',
      requests: [
        request('song', { twice: true, late: true }),
        request('question to think about', { twice: true }),
        request('question'),
      ],
      presses: [
        { button: 'cancel', request: 2, afterMs: 600_000 },
        { button: 'cancel', request: 0, afterMs: 0 },
        { button: 'cancel', request: 0, afterMs: 600_000 },
      ],
      faults: [
        { type: 'stop', afterSteps: 28, replica: 0, forMs: 60_000 },
        { type: 'freeze', afterSteps: 52, replica: 0, forMs: 60_000 },
        { type: 'lose timers', afterSteps: 38, replica: 0, forMs: 0 },
        { type: 'freeze', afterSteps: 21, replica: 0, forMs: 0 },
      ],
      paid: [{ type: 'busy', retryAfterMs: 600_000 }],
      channel: ['gone'],
    });
    expect(broken).toEqual([]);
  });

  test('a suspended run reports an earlier Retry-After than the run that took over', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 1_835_181_401,
      replicas: 3,
      requests: [request('song')],
      faults: [
        { type: 'die', afterSteps: 50, replica: 0, forMs: 60_000 },
        { type: 'die', afterSteps: 0, replica: 1, forMs: 20_000 },
        { type: 'freeze', afterSteps: 16, replica: 2, forMs: 20_000 },
      ],
      channel: new Array(8).fill('limited'),
    });
    expect(trace.join('\n')).toMatch(/limited[\s\S]*freezes[\s\S]*limited/);
    expect(broken).toEqual([]);
  });

  test('a suspended run reads callbacks of a job that failed meanwhile', async () => {
    const { broken, trace } = await simulator.play({
      ...QUIET,
      seed: 123_182_152,
      replicas: 2,
      requests: [request('song', { twice: true }), request('song with words first')],
      faults: [{ type: 'freeze', afterSteps: 56, replica: 1, forMs: 2_700_000 }],
      paid: [{ type: 'taken' }, { type: 'taken' }, { type: 'refused' }],
    });
    expect(trace.join('\n')).toMatch(/refused[\s\S]*refund[\s\S]*continues/);
    expect(broken).toEqual([]);
  });
});
