/** Creates the steps of jobs and wires their dependencies. */
import { createAnswerQuestion } from '../ask/answer.ts';
import { createReadConversation } from '../ask/conversation.ts';
import { createAnswerParts } from '../ask/dialects.ts';
import { createFailAnswer } from '../ask/failure.ts';
import { createUseTools } from '../ask/tools.ts';
import type { JobDependencies } from '../dependencies.ts';
import { createAttachments } from '../steps/attachments.ts';
import { createBegin } from '../steps/begin.ts';
import { createWatchForCancel } from '../steps/cancel-watch.ts';
import { createChannel } from '../steps/channel.ts';
import { createDeliver } from '../steps/deliver.ts';
import { createFailSubmission } from '../steps/failure.ts';
import { createKeep } from '../steps/keep.ts';
import { createFinalMessage } from '../steps/message.ts';
import { createPoll } from '../steps/poll.ts';
import { createRepair } from '../steps/repair.ts';
import { createSend } from '../steps/send.ts';
import { createSlots } from '../steps/slots.ts';
import { createSource } from '../steps/source.ts';
import { createStyleAndLyrics } from '../steps/style-and-lyrics.ts';
import { createSubmit } from '../steps/submit.ts';
import { createReadCallbacks } from './callbacks.ts';

/** Parts that are also used outside of steps. */
export type SharedParts = ReturnType<typeof createSharedParts>;

export function createSharedParts(deps: Omit<JobDependencies, 'invoke'>) {
  return {
    keep: createKeep(deps),
    slots: createSlots(deps),
    source: createSource(deps),
    readCallbacks: createReadCallbacks(deps),
  };
}

export function createSteps(deps: JobDependencies & SharedParts) {
  const { keep, source } = deps;
  const poll = createPoll(deps);
  const channel = createChannel({ ...deps, ...keep });
  const finalMessage = createFinalMessage({ ...deps, ...keep, ...poll, ...source });
  const failSubmission = createFailSubmission(deps);
  const watchForCancel = createWatchForCancel(deps);

  const answerQuestion = createAnswerQuestion({
    ...deps,
    ...channel,
    finalMessage,
    watchForCancel,
    answerParts: createAnswerParts({ ...deps, useTools: createUseTools(deps) }),
    failAnswer: createFailAnswer({ ...deps, failSubmission }),
  });
  const { send, recover } = createSend({
    ...deps,
    ...channel,
    finalMessage,
    watchForCancel,
    failSubmission,
    submit: createSubmit(deps),
    answerQuestion,
  });
  const readConversation = createReadConversation(deps);
  return {
    ...poll,
    channel,
    begin: createBegin({
      ...deps,
      channel,
      watchForCancel,
      ...createAttachments({ ...deps, ...keep, readConversation }),
      ...createStyleAndLyrics({ ...deps, failSubmission }),
      send,
    }),
    recover,
    deliver: createDeliver({ ...deps, ...keep, channel, finalMessage }),
    repair: createRepair({ ...deps, channel, finalMessage }),
  };
}
