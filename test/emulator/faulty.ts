/** The emulator with injected faults. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type {
  FaultHooks,
  FaultTools,
  Reporter,
  Stage,
  StreamDialect,
} from '../../src/emulator/fault-hooks.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { answerRefusal, RefusedRequest, reasonOfStatus, routeFamily } from '../../src/emulator/requests.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import type { TaskReport } from '../../src/emulator/shapes.ts';
import { serverSentEvent } from '../../src/emulator/text/conversation.ts';
import { createFaults, type Fault, type FaultRule } from './faults.ts';

export interface FaultyEmulator extends Emulator {
  /** Adds a fault for later requests. Throws UnknownFaultError. */
  addFault(rule: FaultRule): void;
  clearFaults(): void;
}

export interface FaultyOptions extends EmulatorOptions {
  /** Initial faults. More can be added later. */
  readonly faults?: readonly FaultRule[];
}

type CallbackFault = Extract<Fault, { kind: 'callback' }>;

/** Applies the faults of rules and of the header `x-emulator-fault`. */
export async function startFaultyEmulator({
  faults: rules = [],
  ...options
}: FaultyOptions = {}): Promise<FaultyEmulator> {
  const faults = createFaults(rules);
  const met = new WeakMap<object, readonly Fault[]>();
  const faultsOf = (request: FastifyRequest): readonly Fault[] => met.get(request.raw) ?? [];
  const faultOf = <Kind extends Fault['kind']>(request: FastifyRequest, kind: Kind) =>
    faultsOf(request).find((fault): fault is Extract<Fault, { kind: Kind }> => fault.kind === kind);
  let context: FaultTools | undefined;

  const faultHooks: FaultHooks = {
    register(server, emulatorContext) {
      context = emulatorContext;
      server.addHook('onRequest', async (request) => {
        const header = request.headers['x-emulator-fault']?.toString();
        met.set(request.raw, faults.take(request.method, request.url, header));
      });
      injectFaults(server, emulatorContext, faultsOf);
    },
    reporting(request) {
      const fault = faultOf(request, 'callback');
      if (!fault || !context) return undefined;
      return { isEarly: fault.how === 'early', report: faultyReport(fault, context) };
    },
    streaming(request, dialect) {
      const fault = faultOf(request, 'stream');
      return fault && context && faultyEvents(fault.how, { request, dialect, context });
    },
    video(request) {
      const how = faultOf(request, 'video')?.how;
      if (how === undefined) return undefined;
      const failure = { code: 'InternalError.Algo', message: 'The video could not be generated.' };
      if (how === 'stuck') return { status: 'PENDING' };
      return { status: how, ...(how === 'FAILED' ? { failure } : {}) };
    },
  };
  const emulator = await startEmulator({ ...options, faultHooks });
  return { ...emulator, addFault: faults.add, clearFaults: faults.clear };
}

/** Injects faults of whole requests, before a request is processed or after its response is created. */
function injectFaults(
  server: FastifyInstance,
  context: FaultTools,
  faultsOf: (request: FastifyRequest) => readonly Fault[],
): void {
  // A request without a response ends when the client or the emulator closes it.
  const never = (): Promise<never> => new Promise(() => {});

  server.addHook('preValidation', async (request, reply) => {
    for (const fault of faultsOf(request)) {
      switch (fault.kind) {
        case 'slow':
          await hold(fault.seconds, context);
          break;
        case 'status':
          if (fault.retryAfter !== null) reply.header('retry-after', fault.retryAfter);
          return reply.code(fault.status).send(injected(request, fault.status, context));
        case 'body-code':
          return reply.send({ code: fault.code, msg: `injected fault: code ${fault.code}`, data: null });
        case 'nonsense':
          return reply.type('text/html').send('<html><body><h1>It works!</h1></body></html>');
        case 'empty-202':
          return reply.code(202).send();
        case 'reset':
          request.raw.socket.destroy();
          return never();
        case 'hang':
          return never();
        case 'lost':
        case 'callback':
        case 'stream':
        case 'video':
          break;
        default:
          fault satisfies never;
      }
    }
    return undefined;
  });

  server.addHook('onSend', async (request, reply, payload) => {
    const lost = faultsOf(request).find((fault) => fault.kind === 'lost');
    if (lost === undefined) return payload;
    if (lost.how === 'reset') request.raw.socket.destroy();
    if (lost.how !== 'error') return never();
    const text = JSON.stringify(injected(request, 502, context));
    reply.code(502).type('application/json').header('content-length', Buffer.byteLength(text));
    return text;
  });
}

/** Returns the body of a refusal in the dialect of the request's family. */
function injected({ url }: FastifyRequest, status: number, { shape, randomId }: FaultTools): unknown {
  const message = `injected fault: status ${status}`;
  const family = routeFamily(url);
  if (family === 'music') return shape.refused(status, message).body;
  const refusal = new RefusedRequest(reasonOfStatus(status), message);
  return answerRefusal(refusal, family, shape, randomId()).body;
}

/** Waits real seconds at any speed, to test the client's timeouts. */
function hold(seconds: number, { closing }: Pick<FaultTools, 'closing'>): Promise<void> {
  return wait(seconds * 1000, undefined, { signal: closing });
}

const LATE_SECONDS = 5;
const PIECE_SECONDS = 0.02;

function faultyReport({ how, amount }: CallbackFault, context: FaultTools) {
  return async ({ send, sendBody, finish, fail }: Reporter, stages: readonly Stage[]): Promise<void> => {
    const twice = async (report: TaskReport): Promise<boolean> =>
      (await Promise.all([send(report), send(report)])).includes(true);

    /** Reports the result, which ends the task. */
    async function sendResult(report: TaskReport): Promise<void> {
      switch (how) {
        case 'none':
          return;
        case 'duplicate':
          // Two at once, and a third one afterwards.
          await finish(twice(report), 'complete');
          await send(report);
          return;
        case 'nonsense':
          return finish(sendBody('<html>502 Bad Gateway</html>'), 'complete');
        case 'foreign':
          return finish(send(report, context.randomId().replaceAll('-', '')), 'complete');
        case 'late':
          await hold(amount ?? LATE_SECONDS, context);
          break;
        case 'staged':
          // A receiver must not mistake an empty stage for the result.
          if (stages.length === 1) await send({ kind: 'songs', stage: 'text', items: [] });
          break;
      }
      return finish(send(report), 'complete');
    }

    if (how === 'fail') {
      await context.pause(stages[0]?.atSeconds ?? 0);
      return fail(amount ?? 501, 'Audio generation failed.');
    }
    let elapsed = 0;
    const early: TaskReport[] = [];
    for (const [index, stage] of stages.entries()) {
      await context.pause(stage.atSeconds - elapsed);
      elapsed = stage.atSeconds;
      const report = await stage.make();
      if (index === stages.length - 1) await sendResult(report);
      else if (how === 'duplicate') await twice(report);
      else if (how === 'out-of-order') early.unshift(report);
      else if (how === 'late' || how === 'staged') await send(report);
    }
    for (const report of early) await send(report);
  };
}

type StreamFault = Extract<Fault, { kind: 'stream' }>['how'];

interface FaultyStream {
  readonly request: FastifyRequest;
  readonly dialect: StreamDialect;
  readonly context: FaultTools;
}

async function* faultyEvents(
  how: StreamFault,
  { request, dialect, context }: FaultyStream,
): AsyncGenerator<string> {
  const { pieces } = dialect;
  for (const data of dialect.opening) yield serverSentEvent(data);
  const sentPieces = how === 'no-end' ? pieces : pieces.slice(0, Math.ceil(pieces.length / 2));
  for (const text of sentPieces) {
    await context.pause(PIECE_SECONDS);
    yield serverSentEvent(dialect.piece(text));
  }
  if (how === 'break') request.raw.socket.destroy();
  if (how === 'error') yield serverSentEvent(dialect.error);
  if (how === 'stall') await new Promise(() => {});
}
