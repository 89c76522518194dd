import type { FastifyRequest } from 'fastify';
import type { Stage } from '../bends.ts';
import type { EmulatorContext } from '../context.ts';
import { DownloadError } from '../download.ts';
import type { TaskReport } from '../shapes.ts';
import type { MusicTask, MusicTaskKind } from '../store.ts';
import { UnusableInputError } from '../studio/commission.ts';

/** An id as upstream writes them: 32 hexadecimal digits. */
export function newTaskId(context: EmulatorContext): string {
  return context.randomId().replaceAll('-', '');
}

export function createTask(context: EmulatorContext, kind: MusicTaskKind): MusicTask {
  return context.store.tasks.add({ id: newTaskId(context), kind, audios: [], state: 'working' });
}

/**
 * Accepts a task: its stages run in the background and report to the callback URL. Resolves with the body of the
 * submission's answer.
 */
export async function acceptTask(
  context: EmulatorContext,
  request: FastifyRequest,
  task: MusicTask,
  callBackUrl: string,
  stages: readonly Stage[],
): Promise<Record<string, unknown>> {
  const bent = context.bends.telling?.(request);
  const sendBody = (body: string): Promise<boolean> => context.callbacks.deliver(callBackUrl, body);
  const send = (report: TaskReport, taskId = task.id): Promise<boolean> =>
    sendBody(JSON.stringify(context.shape.callback(taskId, report)));
  const finish = async (sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void> => {
    // A quick client may build on the task as soon as the callback leaves.
    task.state = state;
    if (!(await sending)) task.state = 'undelivered';
  };
  const fail = (code: number, message: string): Promise<void> =>
    finish(send({ kind: 'failure', of: task.kind, code, message }), 'failed');

  const run = async (): Promise<void> => {
    try {
      if (bent) await bent.tell({ send, sendBody, finish, fail }, stages);
      else await runStages();
    } catch (error) {
      if (context.closing.aborted) return;
      if (error instanceof DownloadError)
        await fail(451, `The file could not be downloaded: ${error.message}.`);
      else if (error instanceof UnusableInputError)
        await fail(400, `The source could not be used: ${error.message}.`);
      else await fail(500, 'The server failed.');
    }
  };
  const runStages = async (): Promise<void> => {
    let elapsed = 0;
    for (const [index, stage] of stages.entries()) {
      await context.pause(stage.atSeconds - elapsed);
      elapsed = stage.atSeconds;
      const report = await stage.make();
      if (index === stages.length - 1) await finish(send(report), 'complete');
      else await send(report);
    }
  };

  if (bent?.isEarly) await run();
  else context.background(run);
  return context.shape.accepted(task.id);
}
