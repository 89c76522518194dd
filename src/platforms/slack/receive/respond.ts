/** Runs an invocation, acknowledges it in time, and shows the answer. */
import { createHash } from 'node:crypto';
import type { Context, types } from '@slack/bolt';
import { answersPrivately } from '../../../core/bot/command.ts';
import type { Bot } from '../../../core/bot/create-bot.ts';
import type { Outcome } from '../../../core/bot/outcome.ts';
import { UserError } from '../../../core/errors.ts';
import type { Address, Invocation } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { PlatformError } from '../../platform.ts';
import { contextSentAt, organisationOf } from '../connection/app.ts';
import { type Workspace, type Workspaces, withOrganisation } from '../connection/workspaces.ts';
import {
  type PrivateTools,
  renderPrivately,
  sendDirectly,
  sendPartPrivately,
  sendPrivately,
} from '../deliver/private.ts';
import { show } from '../deliver/show.ts';
import { LIMITS } from '../limits.ts';
import type { Part } from '../render/parts.ts';
import { openForm, viewOf } from './open-form.ts';
import { agentThreadOf } from './payloads.ts';

/** Dependencies of every listener. */
export interface ListenerTools extends Omit<PrivateTools, keyof Workspace> {
  readonly bot: Bot;
  /** How long Slack waits for an acknowledgement, in milliseconds. */
  readonly patienceMs: number;
  readonly workspaces: Workspaces;
  /** The bot answers in threads that it has joined without being mentioned. */
  readonly threads: boolean;
  /** Handles the removal of the app from a workspace at `at`, in milliseconds. */
  readonly onUninstalled: (team: string, at: number) => Promise<void>;
}

export interface WorkspaceTools extends ListenerTools, Workspace {
  /** The workspace that the app acts in. */
  readonly team: string;
  /** The organisation that installed the app for all its workspaces. */
  readonly organisation: string | undefined;
  /** When Slack sent the event, in milliseconds. */
  readonly sentAt: number;
}

/**
 * Adds the tools of a workspace: Bolt's, or that of `guild` if Bolt knows only the organisation. Throws PlatformError if the
 * app is not installed there.
 */
export async function toolsIn(
  context: Context,
  tools: ListenerTools,
  guild: string | undefined = context.teamId,
): Promise<WorkspaceTools> {
  const teamId = guild ?? context.teamId;
  const organisation = organisationOf(context);
  const workspace = await tools.workspaces.of(teamId, organisation);
  const team = workspace.identity.teamOr(teamId ?? '');
  return { ...tools, ...workspace, team, organisation, sentAt: contextSentAt(context) };
}

/** The requester in a payload. `team_id`: their home workspace. */
interface Requester {
  readonly id: string;
  readonly username?: string | undefined;
  readonly team_id?: string | undefined;
}

/** Ways to acknowledge an interaction. Slack waits three seconds. */
export interface Acknowledgement {
  /** When Slack started waiting, in milliseconds. Absent if Slack shows no error for a late acknowledgement. */
  readonly sentAt?: number;
  silently(): Promise<void>;
  /** Shows a message to the person alone, if Slack supports that in the acknowledgement. */
  privately?(part: Part): Promise<void>;
  /** Shows a message at a field of the submitted form. Returns false if the form does not have the field. */
  atField?(option: string, sentence: Message): Promise<boolean>;
  /** Replaces the submitted form. */
  withForm?(view: types.ModalView): Promise<void>;
}

interface Origin {
  /** Opens a form; valid for three seconds. */
  readonly triggerId: string | undefined;
  /** The Home tab in use. It shows the answer, or is refreshed if there is no message. */
  readonly home?: { readonly direct: string; answer(message: Message | undefined): Promise<void> };
}

type AnswerOptions = Origin & { readonly acknowledge: Acknowledgement };
type RequestedInvocation = Omit<Invocation, 'person'>;

/**
 * Runs an invocation. A job is acknowledged only once it is stored, because it may cost something. Everything else is
 * acknowledged in time.
 */
export async function respond(
  requested: RequestedInvocation,
  user: Requester,
  { acknowledge, ...origin }: AnswerOptions,
  tools: WorkspaceTools,
): Promise<void> {
  const outcomePromise = invocationOf(user, requested, tools).then((invocation) => tools.bot.run(invocation));
  const isFree = answersPrivately(requested, tools.bot.commands);
  const inTime = await Promise.race([
    outcomePromise,
    ...(isFree ? [tools.sleep(LIMITS.acknowledgeWithinMs)] : []),
  ]);
  const isEarly = inTime === undefined;
  if (isEarly) await isReceived(acknowledge.silently(), tools);
  const outcome = inTime ?? (await outcomePromise);
  if (outcome.type === 'accepted') {
    // If Slack reported a failure, the person tries again, so the job is declined to avoid a double charge.
    if (isEarly || (await isAcknowledged(acknowledge, tools)) || outcome.decline === undefined)
      outcome.begin();
    else return await outcome.decline();
    if (origin.home) return await origin.home.answer(outcome.reply);
    if (outcome.reply) await sendPrivately(requested.address, outcome.reply, tools);
    return;
  }
  const isAnswered = !isEarly && (await acknowledgeWith(outcome, acknowledge, requested, origin, tools));
  if (!isAnswered) await showAnswer(outcome, requested, origin, tools);
  await setAgentIdle(requested, tools);
}

/** Answers a message, which needs no acknowledgement. `run` resolves to undefined if there is no answer. */
export async function respondToMessage(
  requested: RequestedInvocation,
  user: string,
  run: (invocation: Invocation) => Promise<Outcome | undefined>,
  tools: WorkspaceTools,
): Promise<void> {
  const outcome = await run(await invocationOf({ id: user }, requested, tools));
  if (outcome?.type === 'accepted') outcome.begin();
  else if (outcome) {
    await showAnswer(outcome, requested, { triggerId: undefined }, tools);
    await setAgentIdle(requested, tools);
  }
}

async function setAgentIdle({ address }: RequestedInvocation, { agents }: WorkspaceTools): Promise<void> {
  const thread = agentThreadOf(address);
  if (thread !== undefined) await agents.setIdle(thread);
}

/** Adds the person to the invocation. */
async function invocationOf(
  { id, username, team_id }: Requester,
  requested: RequestedInvocation,
  { people, team, organisation }: WorkspaceTools,
): Promise<Invocation> {
  const person = await people.find(id, username, team_id === team);
  return { ...requested, address: withOrganisation(requested.address, organisation), person };
}

/** Returns false if the acknowledgement did not reach Slack, or came after Slack had reported a failure. */
async function isAcknowledged(acknowledge: Acknowledgement, tools: WorkspaceTools): Promise<boolean> {
  const { sentAt = tools.now() } = acknowledge;
  const arrived = await isReceived(acknowledge.silently(), tools);
  const elapsedMs = tools.now() - sentAt;
  if (elapsedMs > tools.patienceMs)
    tools.log.warn({ elapsedMs }, 'Received a Slack event too late to acknowledge it');
  return arrived && elapsedMs <= tools.patienceMs;
}

type AnswerOutcome = Exclude<Outcome, { type: 'accepted' }>;

/** Returns true if the acknowledgement contained the answer. */
async function acknowledgeWith(
  outcome: AnswerOutcome,
  acknowledge: Acknowledgement,
  { address }: RequestedInvocation,
  { home }: Origin,
  tools: WorkspaceTools,
): Promise<boolean> {
  if (outcome.type === 'message' && outcome.visibility === 'person') {
    const { option, message } = outcome;
    if (option !== undefined && (await acknowledge.atField?.(option, message))) return true;
    const {
      parts: [first, ...rest],
      direct,
    } = await renderPrivately(address, message, tools);
    // Nobody learns whether Slack accepts the blocks of an acknowledgement, so charts and tables are sent after it.
    const canAcknowledge = home === undefined && message.data === undefined;
    if (canAcknowledge && acknowledge.privately !== undefined && first !== undefined) {
      if (!(await isReceived(acknowledge.privately(first), tools)))
        await sendPartPrivately(address, first, tools);
      for (const part of rest) await sendPartPrivately(address, part, tools);
      if (direct !== undefined) await sendDirectly(address, direct, tools);
      return true;
    }
  }
  if (outcome.type === 'form' && acknowledge.withForm !== undefined) {
    const view = viewOf(outcome.form, { address, home: home?.direct });
    if (!(view instanceof UserError)) {
      await isReceived(acknowledge.withForm(view), tools);
      return true;
    }
  }
  await isReceived(acknowledge.silently(), tools);
  return false;
}

/** Returns false if the connection broke before Slack received the acknowledgement. */
async function isReceived(acknowledgement: Promise<void>, { log }: WorkspaceTools): Promise<boolean> {
  try {
    await acknowledgement;
    return true;
  } catch (error) {
    log.warn({ err: error }, 'Could not acknowledge a Slack event');
    return false;
  }
}

/** Shows an answer after the acknowledgement. */
async function showAnswer(
  outcome: AnswerOutcome,
  { address, id }: RequestedInvocation,
  { triggerId, home }: Origin,
  tools: WorkspaceTools,
): Promise<void> {
  switch (outcome.type) {
    case 'message':
      if (home !== undefined) await home.answer(outcome.message);
      else if (outcome.visibility === 'person') await sendPrivately(address, outcome.message, tools);
      else await post(address, outcome.message, id, tools);
      return;
    case 'form':
      return openForm(outcome.form, { address, triggerId, home: home?.direct }, tools);
    default:
      outcome satisfies never;
  }
}

/** Posts a message to the channel, or sends it privately if the channel rejects it. */
async function post(address: Address, message: Message, id: string, tools: WorkspaceTools): Promise<void> {
  // At most 25 characters, as the port requires, and the same for the same invocation.
  const key = createHash('sha256').update(id).digest('base64url').slice(0, 22);
  try {
    await show(address, message, { key, remember: async () => {} }, tools);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    tools.log.warn({ err: error }, 'Could not post an answer to its channel');
    const { advice } = error;
    await sendPrivately(address, advice === undefined ? message : { ...message, footer: advice }, tools);
  }
}
