import type { FastifyRequest } from 'fastify';
import { type EmulatorContext, faultOf } from '../context.ts';
import type { CallbackFault } from '../faults.ts';
import { type Outcome, renderAccepted, renderCallback } from '../shapes.ts';
import type { MusicTask, MusicTaskKind } from '../store.ts';
import { UnusableInputError } from '../studio/commission.ts';

/** A step of a task's work that ends in a callback, `atSeconds` after the submission (scaled by speed). */
export interface Stage {
  readonly atSeconds: number;
  make(): Promise<Outcome>;
}

/** Something a task cannot do, with the code that its callback carries. */
export class TaskFailure extends Error {
  override readonly name = 'TaskFailure';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const failureMessages: Record<number, string> = {
  400: 'The lyrics or parameters were refused.',
  408: 'The generation took too long.',
  413: 'The uploaded audio matches an existing work.',
  451: 'A file could not be downloaded.',
  500: 'The server failed.',
  501: 'Audio generation failed.',
  531: 'Generation failed; the credits were refunded.',
};
const lateSeconds = 5;

export function createTask(context: EmulatorContext, kind: MusicTaskKind): MusicTask {
  const id = context.randomId().replaceAll('-', '');
  return context.store.tasks.add({ id, kind, audios: [], state: 'working' });
}

/**
 * Accepts a task: its stages run in the background and report to the callback URL, bent by the request's callback
 * fault if it has one. Resolves with the body of the submission's answer.
 */
export async function acceptTask(
  context: EmulatorContext,
  request: FastifyRequest,
  task: MusicTask,
  callBackUrl: string,
  stages: readonly Stage[],
): Promise<Record<string, unknown>> {
  const fault = faultOf(context, request, 'callback');
  const how = fault?.how ?? null;
  const send = async (outcome: Outcome, taskId = task.id): Promise<boolean> => {
    const body = JSON.stringify(renderCallback(context.shape, taskId, outcome));
    return context.callbacks.deliver(callBackUrl, body);
  };
  const finish = async (sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void> => {
    // From the moment the callback is under way a quick client may build on the task.
    task.state = state;
    if (!(await sending)) task.state = 'undelivered';
  };
  const fail = (code: number, message: string): Promise<void> =>
    finish(send({ kind: 'failure', of: task.kind, code, message }), 'failed');

  const run = async (): Promise<void> => {
    try {
      if (how === 'fail') {
        const code = fault?.amount ?? 501;
        await context.pause(stages[0]?.atSeconds ?? 0);
        await fail(code, failureMessages[code] ?? 'Generation failed.');
        return;
      }
      await runStages(how, fault?.amount ?? null);
    } catch (error) {
      if (context.closing.aborted) return;
      if (error instanceof TaskFailure) await fail(error.code, error.message);
      else if (error instanceof UnusableInputError)
        await fail(400, `The source could not be used: ${error.message}.`);
      else await fail(500, 'The server failed.');
    }
  };

  const runStages = async (bent: CallbackFault | null, amount: number | null): Promise<void> => {
    let elapsed = 0;
    const outcomes: Outcome[] = [];
    for (const [index, stage] of stages.entries()) {
      const last = index === stages.length - 1;
      await context.pause(stage.atSeconds - elapsed);
      elapsed = stage.atSeconds;
      const outcome = await stage.make();
      outcomes.push(outcome);
      switch (bent) {
        case 'none':
        case 'out-of-order':
          break;
        case 'complete-only':
        case 'early':
          if (last) await finish(send(outcome), 'complete');
          break;
        case 'late':
          if (last) await context.hold(amount ?? lateSeconds);
          await (last ? finish(send(outcome), 'complete') : send(outcome));
          break;
        case 'duplicate':
          // Two at once, and of the result a third one afterwards.
          if (last) await finish(both(send(outcome), send(outcome)), 'complete');
          await (last ? send(outcome) : both(send(outcome), send(outcome)));
          break;
        case 'nonsense':
          if (last)
            await finish(context.callbacks.deliver(callBackUrl, '<html>502 Bad Gateway</html>'), 'complete');
          break;
        case 'foreign':
          if (last) await finish(send(outcome, context.randomId().replaceAll('-', '')), 'complete');
          break;
        case 'staged':
          // A receiver must not take a stage with nothing in it for the result.
          if (stages.length === 1) await send({ kind: 'songs', stage: 'text', items: [] });
          await (last ? finish(send(outcome), 'complete') : send(outcome));
          break;
        case 'fail':
        case null:
          await (last ? finish(send(outcome), 'complete') : send(outcome));
          break;
        default:
          bent satisfies never;
      }
    }
    if (bent === 'out-of-order') {
      const [complete, ...earlier] = outcomes.reverse();
      if (complete !== undefined) await finish(send(complete), 'complete');
      for (const outcome of earlier) await send(outcome);
    }
  };

  if (how === 'early') await run();
  else context.background(run);
  return renderAccepted(context.shape, task.id);
}

async function both(first: Promise<boolean>, second: Promise<boolean>): Promise<boolean> {
  const taken = await Promise.all([first, second]);
  return taken.includes(true);
}
