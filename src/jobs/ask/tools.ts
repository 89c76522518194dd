/** Function calling: a model runs the bot's commands on behalf of the requester, with their limits and rights. */

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

/** Limit of requests for one answer, for models that go in circles. */
const MOST_ROUNDS = 5;
/** Limit of commands for one answer, about as many as a person would run in a minute. */
const MOST_CALLS = 5;
/** Limit of characters of an argument shown to people. */
const LONGEST_GIVEN = 200;

type ToolCall = Extract<AnswerPart, { type: 'tool-call' }>;

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Called before each paid request. Throws if this run may no longer send one. */
  readonly beforeAsking: () => void;
}

/** Asks the model, runs the commands it calls and returns their results, until it answers or a limit is reached. */
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
  function createCaller(job: Job, commands: readonly string[]): (call: ToolCall) => Promise<CallResult> {
    const previous = new Set<string>();
    let calls = 0;
    return async ({ name, arguments: args }) => {
      const tool = commands.includes(name) ? command(name) : undefined;
      if (!tool)
        return { response: { error: `There is no function “${name}”. Available: ${commands.join(', ')}.` } };
      const key = JSON.stringify([name, Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
      if (previous.has(key))
        return { response: { error: 'You have already called this with the same arguments.' } };
      previous.add(key);
      calls += 1;
      if (calls > MOST_CALLS)
        return { response: { error: `No more than ${MOST_CALLS} calls for one answer. Please answer now.` } };
      const read = readArguments(args, tool);
      const shown = { command: name, given: describe(args) };
      if (!read.ok)
        return {
          shown: { ...shown, outcome: 'refused', sentence: read.problem },
          response: { error: read.problem },
        };
      const outcome = await invoke({
        // A repeated call of this answer must not create a second job.
        id: `${job.id}:call:${calls}`,
        command: name,
        options: read.options,
        address: platform(job.address.platform)?.sameChannel?.(job.address) ?? job.address,
        person: job.person,
        isAutomatic: true,
      } satisfies Invocation);
      log.info({ job: job.id, command: name, outcome: outcome.type }, 'A model ran a command');
      return toCallResult(outcome, shown);
    };
  }

  /** After a command has run, an answer without text is a normal end. */
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
      const tool = command(name);
      return tool ? [toolDeclaration(tool)] : [];
    });
    const turns: Turn[] = [...question.turns];
    let usage: Usage | undefined;
    let hasText = false;
    let hasCalled = false;
    for (let round = 1; ; round += 1) {
      beforeAsking();
      const answer = await callTools({ ...question, turns, tools }, { signal, hasCalled });
      usage = sumOf(usage, answer.usage);
      const content = answer.parts.filter((part) => part.type !== 'tool-call');
      if (hasText && content.length > 0) yield { type: 'part', part: { type: 'text', text: '\n\n' } };
      // Calls are yielded, too. They are invisible, but prove that the gateway accepted this request.
      for (const part of answer.parts) yield { type: 'part', part };
      hasText ||= content.some(({ type }) => type === 'text');
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

interface CallResult {
  /** Shown to people; absent if the call had no effect. */
  readonly shown?: CommandCall;
  /** Sent to the model. */
  readonly response: Record<string, unknown>;
}

function toCallResult(outcome: Outcome, shown: Pick<CommandCall, 'command' | 'given'>): CallResult {
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

function describe(args: Readonly<Record<string, unknown>>): string {
  return Object.entries(args)
    .slice(0, 12)
    .map(([name, value]) => `${name}: ${shorten(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join(' · ');
}

function shorten(text = ''): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= LONGEST_GIVEN ? flat : `${flat.slice(0, LONGEST_GIVEN).toWellFormed()}…`;
}

function sumOf(total: Usage | undefined, next: Usage | undefined): Usage | undefined {
  if (!total || !next) return total ?? next;
  const inputTokens = (total.inputTokens ?? 0) + (next.inputTokens ?? 0);
  const outputTokens = (total.outputTokens ?? 0) + (next.outputTokens ?? 0);
  return {
    ...(total.inputTokens === undefined && next.inputTokens === undefined ? {} : { inputTokens }),
    ...(total.outputTokens === undefined && next.outputTokens === undefined ? {} : { outputTokens }),
  };
}
