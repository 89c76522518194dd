/** Function calling: a model uses the bot's commands in the name of the person who asked, with their limits and rights. */

import type { Outcome } from '../../core/bot/outcome.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import type { CommandCall } from '../../core/work.ts';
import type { Answer, AnswerPart, Usage } from '../../gateway/answers.ts';
import type { Question, Turn, TurnPart } from '../../gateway/questions.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { DraftEvent } from './draft.ts';
import { readArguments, toolDeclaration } from './tool-declarations.ts';

/** Requests for one answer. A model that wants more is going in circles. */
const MOST_ROUNDS = 5;
/** Commands for one answer: what a person would ask for in a minute. */
const MOST_CALLS = 5;
/** Characters of an argument that people are shown. */
const LONGEST_GIVEN = 200;

type ToolCall = Extract<AnswerPart, { type: 'tool-call' }>;

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Called before each paid request; throws if this run may not make one any more. */
  readonly beforeAsking: () => void;
}

/** Asks the model, runs the commands that it calls, returns their results to it, and repeats until it answers or a bound is reached. */
export type UseTools = (
  job: Job,
  question: Question,
  commands: readonly string[],
  asking: AskOptions,
) => AsyncIterable<DraftEvent>;

export function createUseTools({
  gateway,
  command,
  invoke,
  platform,
  log,
}: Pick<JobDependencies, 'gateway' | 'command' | 'invoke' | 'platform' | 'log'>): UseTools {
  function createCaller(job: Job, commands: readonly string[]): (call: ToolCall) => Promise<Called> {
    const done = new Set<string>();
    let calls = 0;
    return async ({ name, arguments: given }) => {
      const known = commands.includes(name) ? command(name) : undefined;
      if (!known)
        return { response: { error: `There is no function “${name}”. Available: ${commands.join(', ')}.` } };
      const key = JSON.stringify([name, Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
      if (done.has(key))
        return { response: { error: 'You have already called this with the same arguments.' } };
      done.add(key);
      calls += 1;
      if (calls > MOST_CALLS)
        return { response: { error: `No more than ${MOST_CALLS} calls for one answer. Please answer now.` } };
      const read = readArguments(given, known);
      const shown = { command: name, given: describe(given) };
      if (!read.ok)
        return {
          shown: { ...shown, outcome: 'refused', sentence: read.problem },
          response: { error: read.problem },
        };
      const outcome = await invoke({
        // The same call of the same answer makes one job, whatever happens.
        id: `${job.id}:call:${calls}`,
        command: name,
        options: read.options,
        address: platform(job.address.platform)?.sameChannel?.(job.address) ?? job.address,
        person: job.person,
      } satisfies Invocation);
      log.info({ job: job.id, command: name, outcome: outcome.type }, 'A model used a command');
      return told(outcome, shown);
    };
  }

  /** After a command was used, an answer without words is a plain end. */
  async function callTools(
    question: Parameters<typeof gateway.gen.callTools>[0],
    { signal, hasCalled }: { readonly signal: AbortSignal; readonly hasCalled: boolean },
  ): Promise<Answer> {
    try {
      return await gateway.gen.callTools(question, { signal });
    } catch (error) {
      if (!hasCalled || !(error instanceof GatewayError) || error.code !== 'nonsense') throw error;
      return { parts: [], finish: { reason: 'stop' }, usage: undefined };
    }
  }

  return async function* useTools(job, question, commands, { signal, beforeAsking }) {
    const caller = createCaller(job, commands);
    const tools = commands.flatMap((name) => {
      const known = command(name);
      return known ? [toolDeclaration(known)] : [];
    });
    const turns: Turn[] = [...question.turns];
    let usage: Usage | undefined;
    let hasSpoken = false;
    let hasCalled = false;
    for (let round = 1; ; round += 1) {
      beforeAsking();
      const answer = await callTools({ ...question, turns, tools }, { signal, hasCalled });
      usage = sumOf(usage, answer.usage);
      const spoken = answer.parts.filter((part) => part.type !== 'tool-call');
      if (hasSpoken && spoken.length > 0) yield { type: 'part', part: { type: 'text', text: '\n\n' } };
      // Calls are passed on, too: people do not see them, and they show that the gateway took this request.
      for (const part of answer.parts) yield { type: 'part', part };
      hasSpoken ||= spoken.some(({ type }) => type === 'text');
      const calls = answer.parts.filter((part) => part.type === 'tool-call');
      if (calls.length === 0 || round === MOST_ROUNDS) {
        const finish = calls.length === 0 ? answer.finish : { reason: 'rounds' as const };
        yield { type: 'finish', finish, usage };
        return;
      }
      const results: TurnPart[] = [];
      for (const call of calls) {
        if (signal.aborted) break;
        const { shown, response } = await caller(call);
        if (shown) yield { type: 'call', call: shown };
        hasCalled ||= shown !== undefined && shown.outcome !== 'refused';
        results.push({ type: 'tool-result', name: call.name, result: response, id: call.id });
      }
      turns.push(
        { role: 'assistant', parts: answer.parts.flatMap((part) => (part.type === 'thought' ? [] : [part])) },
        { role: 'user', parts: results },
      );
    }
  };
}

interface Called {
  /** What people see of it; a call that did nothing is not shown. */
  readonly shown?: CommandCall;
  /** What the model is told. */
  readonly response: Record<string, unknown>;
}

function told(outcome: Outcome, shown: Pick<CommandCall, 'command' | 'given'>): Called {
  switch (outcome.type) {
    case 'accepted':
      outcome.begin();
      return {
        shown: { ...shown, outcome: 'started' },
        response: { status: 'started', note: 'It will appear in this channel automatically.' },
      };
    case 'message': {
      const sentence = outcome.message.text ?? outcome.message.title ?? '';
      if (outcome.visibility === 'channel')
        return { shown: { ...shown, outcome: 'answered', sentence }, response: { answer: sentence } };
      return { shown: { ...shown, outcome: 'refused', sentence }, response: { error: sentence } };
    }
    case 'form': {
      const sentence = `Only a person can fill in this form. Use /${shown.command}.`;
      return { shown: { ...shown, outcome: 'refused', sentence }, response: { error: sentence } };
    }
    default:
      return outcome satisfies never;
  }
}

function describe(given: Readonly<Record<string, unknown>>): string {
  return Object.entries(given)
    .slice(0, 12)
    .map(([name, value]) => `${name}: ${shorten(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join(' · ');
}

function shorten(text = ''): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= LONGEST_GIVEN ? flat : `${flat.slice(0, LONGEST_GIVEN).toWellFormed()}…`;
}

function sumOf(before: Usage | undefined, now: Usage | undefined): Usage | undefined {
  if (!before || !now) return before ?? now;
  const inputTokens = (before.inputTokens ?? 0) + (now.inputTokens ?? 0);
  const outputTokens = (before.outputTokens ?? 0) + (now.outputTokens ?? 0);
  return {
    ...(before.inputTokens === undefined && now.inputTokens === undefined ? {} : { inputTokens }),
    ...(before.outputTokens === undefined && now.outputTokens === undefined ? {} : { outputTokens }),
  };
}
