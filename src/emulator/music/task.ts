import type { FastifyRequest } from 'fastify';
import { type EmulatorContext, faultOf } from '../context.ts';
import { DownloadError } from '../download.ts';
import type { TaskReport } from '../shapes.ts';
import type { MusicTask, MusicTaskKind } from '../store.ts';
import { UnusableInputError } from '../studio/commission.ts';

/** A step of a task's work that ends in a callback, `atSeconds` after the submission (scaled by speed). */
export interface Stage {
  readonly atSeconds: number;
  make(): Promise<TaskReport>;
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

/** An id as upstream writes them: 32 hexadecimal digits. */
export function newTaskId(context: EmulatorContext): string {
  return context.randomId().replaceAll('-', '');
}

export function createTask(context: EmulatorContext, kind: MusicTaskKind): MusicTask {
  return context.store.tasks.add({ id: newTaskId(context), kind, audios: [], state: 'working' });
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
  const send = async (report: TaskReport, taskId = task.id): Promise<boolean> => {
    const body = JSON.stringify(context.shape.callback(taskId, report));
    return context.callbacks.deliver(callBackUrl, body);
  };
  const finish = async (sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void> => {
    // A quick client may build on the task as soon as the callback leaves.
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
      await runStages();
    } catch (error) {
      if (context.closing.aborted) return;
      if (error instanceof DownloadError)
        await fail(451, `The file could not be downloaded: ${error.message}.`);
      else if (error instanceof UnusableInputError)
        await fail(400, `The source could not be used: ${error.message}.`);
      else await fail(500, 'The server failed.');
    }
  };

  /** Tells of the result, which ends the task. */
  const sendResult = async (report: TaskReport): Promise<void> => {
    switch (how) {
      case 'none':
        return;
      case 'duplicate':
        // Two at once, and a third one afterwards.
        await finish(both(send(report), send(report)), 'complete');
        await send(report);
        return;
      case 'nonsense':
        return finish(context.callbacks.deliver(callBackUrl, '<html>502 Bad Gateway</html>'), 'complete');
      case 'foreign':
        return finish(send(report, newTaskId(context)), 'complete');
      case 'late':
        await context.hold(fault?.amount ?? lateSeconds);
        break;
      case 'staged':
        // A receiver must not take a stage with nothing in it for the result.
        if (stages.length === 1) await send({ kind: 'songs', stage: 'text', items: [] });
        break;
    }
    return finish(send(report), 'complete');
  };
  const runStages = async (): Promise<void> => {
    let elapsed = 0;
    const early: TaskReport[] = [];
    for (const [index, stage] of stages.entries()) {
      await context.pause(stage.atSeconds - elapsed);
      elapsed = stage.atSeconds;
      const report = await stage.make();
      if (index === stages.length - 1) await sendResult(report);
      else if (how === 'duplicate') await both(send(report), send(report));
      else if (how === 'out-of-order') early.unshift(report);
      else if (how === null || how === 'late' || how === 'staged') await send(report);
    }
    for (const report of early) await send(report);
  };

  if (how === 'early') await run();
  else context.background(run);
  return context.shape.accepted(task.id);
}

async function both(first: Promise<boolean>, second: Promise<boolean>): Promise<boolean> {
  const taken = await Promise.all([first, second]);
  return taken.includes(true);
}
