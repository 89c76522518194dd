/** Callbacks in the format of the public API. */
import type { RouteName } from '../../src/gateway/routes.ts';
import type { Stage } from './history.ts';

/** Paid work from the gateway's view. */
export interface Taken {
  readonly task: string;
  /** The prompt. Each request of a history has a unique one. */
  readonly prompt: string;
  readonly route: RouteName;
  /** Undefined if the request does not name the job. */
  readonly job: string | undefined;
}

export interface Callback {
  readonly job: string;
  readonly stage: Stage;
  readonly body: string;
}

export function callbackOf(taken: Taken, job: string, stage: Stage): Callback {
  return { job, stage, body: JSON.stringify(bodyOf(taken, stage)) };
}

function bodyOf({ task, prompt, route }: Taken, stage: Stage): object {
  if (stage === 'unreadable') return { greeting: `Good morning from ${task}` };
  if (stage === 'failed')
    return { code: 501, msg: 'Audio generation failed', data: { callbackType: 'error', task_id: task } };
  const whole = (data: object) => ({ code: 200, msg: 'ok', data: { task_id: task, ...data } });
  switch (route) {
    case 'music/generate-lyrics':
      return whole({
        callbackType: 'complete',
        data: [{ title: prompt, text: `Rain, for ${prompt}` }],
      });
    case 'music/wav-generate':
      return whole({ callbackType: 'complete', audio_wav_url: `https://gateway.example/${task}.wav` });
    default:
      return whole({
        callbackType: stage,
        data: ['one', 'two'].map((take) => takeOf(task, prompt, stage, take)),
      });
  }
}

function takeOf(task: string, prompt: string, stage: Stage, take: string): object {
  const isSilent = stage === 'text' || (stage === 'first' && take === 'two');
  return {
    id: `${task}-${take}`,
    title: prompt,
    prompt: '[Verse]\nRain on the roof',
    duration: 91.5,
    ...(isSilent ? {} : { audio_url: `https://gateway.example/${task}-${take}.mp3` }),
  };
}
