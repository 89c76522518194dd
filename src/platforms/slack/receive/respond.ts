/** From an invocation to what people see of it: acknowledged in time, then answered. */
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

/** What every listener works with. */
export interface ListenerTools extends Omit<PrivateTools, keyof Workspace> {
  readonly bot: Bot;
  /** How long Slack waits for an acknowledgement, in milliseconds. */
  readonly patienceMs: number;
  readonly workspaces: Workspaces;
  /** Threads that the bot takes part in go on without its name. */
  readonly threads: boolean;
  /** A workspace uninstalled the app at that time, in milliseconds. */
  readonly onUninstalled: (team: string, at: number) => Promise<void>;
}

export interface WorkspaceTools extends ListenerTools, Workspace {
  /** The workspace that the app acts in. */
  readonly team: string;
  /** The organisation that installed the app for all of its workspaces. */
  readonly organisation: string | undefined;
  /** When Slack sent what is being handled, in milliseconds. */
  readonly sentAt: number;
}

/**
 * The tools for the workspace that Bolt acts in, or for that of an address, where Bolt knows the organisation alone. Throws
 * PlatformError when the app is not installed there any more.
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

/** Who asks, as Slack's payloads tell. `team_id`: the person's own workspace. */
interface AskingUser {
  readonly id: string;
  readonly username?: string | undefined;
  readonly team_id?: string | undefined;
}

/** How an interaction is acknowledged. Slack waits three seconds for it. */
export interface Acknowledgement {
  /** When Slack began to wait for it, in milliseconds; absent if the person is not told when it comes too late. */
  readonly sentAt?: number;
  silently(): Promise<void>;
  /** With a sentence for the person alone, where Slack takes one in the acknowledgement. */
  privately?(part: Part): Promise<void>;
  /** With a sentence at the field of the form that was sent; false when the form has no such field. */
  atField?(option: string, sentence: Message): Promise<boolean>;
  /** With another form instead of the one that was sent. */
  withForm?(view: types.ModalView): Promise<void>;
}

interface Origin {
  /** What opens a form, for three seconds. */
  readonly triggerId: string | undefined;
  /** The Home tab that the person used. It shows the answer, or only itself anew when there is no message. */
  readonly home?: { readonly direct: string; answer(message: Message | undefined): Promise<void> };
}

type Answering = Origin & { readonly acknowledge: Acknowledgement };
type Asking = Omit<Invocation, 'person'>;

/**
 * Runs an invocation. What may cost something is acknowledged when it is stored, and not before; what costs nothing is
 * acknowledged in time.
 */
export async function respond(
  asking: Asking,
  user: AskingUser,
  { acknowledge, ...origin }: Answering,
  tools: WorkspaceTools,
): Promise<void> {
  const running = invocationOf(user, asking, tools).then((invocation) => tools.bot.run(invocation));
  const isFree = answersPrivately(asking, tools.bot.commands);
  const inTime = await Promise.race([running, ...(isFree ? [tools.sleep(LIMITS.acknowledgeWithinMs)] : [])]);
  const isEarly = inTime === undefined;
  if (isEarly) await isReceived(acknowledge.silently(), tools);
  const outcome = inTime ?? (await running);
  if (outcome.type === 'accepted') {
    // The person was told that the bot did not respond and asks again: what they ask for twice is not paid twice.
    if (isEarly || (await isAcknowledged(acknowledge, tools)) || outcome.decline === undefined)
      outcome.begin();
    else await outcome.decline();
    return await origin.home?.answer(undefined);
  }
  const isAnswered = !isEarly && (await acknowledgeWith(outcome, acknowledge, asking, origin, tools));
  if (!isAnswered) await follow(outcome, asking, origin, tools);
  await restAgent(asking, tools);
}

/** Answers a message, which needs no acknowledgement. `run` resolves to undefined where there is nothing to say. */
export async function respondToMessage(
  asking: Asking,
  user: string,
  run: (invocation: Invocation) => Promise<Outcome | undefined>,
  tools: WorkspaceTools,
): Promise<void> {
  const outcome = await run(await invocationOf({ id: user }, asking, tools));
  if (outcome?.type === 'accepted') outcome.begin();
  else if (outcome) {
    await follow(outcome, asking, { triggerId: undefined }, tools);
    await restAgent(asking, tools);
  }
}

async function restAgent({ address }: Asking, { agents }: WorkspaceTools): Promise<void> {
  const thread = agentThreadOf(address);
  if (thread !== undefined) await agents.setIdle(thread);
}

/** Once it is known who the person is. */
async function invocationOf(
  { id, username, team_id }: AskingUser,
  asking: Asking,
  { people, team, organisation }: WorkspaceTools,
): Promise<Invocation> {
  const person = await people.find(id, username, team_id === team);
  return { ...asking, address: withOrganisation(asking.address, organisation), person };
}

/** False when the acknowledgement did not reach Slack, or came when Slack had told the person that none did. */
async function isAcknowledged(acknowledge: Acknowledgement, tools: WorkspaceTools): Promise<boolean> {
  const { sentAt = tools.now() } = acknowledge;
  const isHeard = await isReceived(acknowledge.silently(), tools);
  const tookMs = tools.now() - sentAt;
  if (tookMs > tools.patienceMs)
    tools.log.warn({ tookMs }, 'Received a Slack event too late to acknowledge it');
  return isHeard && tookMs <= tools.patienceMs;
}

type AnswerOutcome = Exclude<Outcome, { type: 'accepted' }>;

/** True when the acknowledgement itself was the answer. */
async function acknowledgeWith(
  outcome: AnswerOutcome,
  acknowledge: Acknowledgement,
  { address }: Asking,
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
    if (home === undefined && acknowledge.privately !== undefined && first !== undefined) {
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

/** False when the connection broke before Slack got the acknowledgement. */
async function isReceived(acknowledging: Promise<void>, { log }: WorkspaceTools): Promise<boolean> {
  try {
    await acknowledging;
    return true;
  } catch (error) {
    log.warn({ err: error }, 'Could not acknowledge a Slack event');
    return false;
  }
}

/** What happens after the acknowledgement. */
async function follow(
  outcome: AnswerOutcome,
  { address, id }: Asking,
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

/** Posts a message to the channel; where the channel does not take it, sends it to the person. */
async function post(address: Address, message: Message, id: string, tools: WorkspaceTools): Promise<void> {
  // At most 25 characters, as the port asks; the same for the same invocation.
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
