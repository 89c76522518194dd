/** From an invocation to what people see of it: acknowledged in time, then answered in its place. */
import { createHash } from 'node:crypto';
import type { Address, Form, Invocation, Log, Outcome } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type Bot, PlatformError } from '../platform.ts';
import { slackErrorOf } from './errors.ts';
import { LIMITS } from './limits.ts';
import { type FormOrigin, formView } from './modal.ts';
import type { ShowTools } from './post.ts';
import type { Part } from './render.ts';
import { show } from './show.ts';
import { privateParts, type WhisperTools, whisper, whisperPart } from './whisper.ts';

export interface AnsweringTools extends ShowTools, WhisperTools {
  readonly bot: Bot;
  readonly log: Log;
}

/** How an interaction is acknowledged. Slack waits three seconds for it. */
export interface Acknowledgement {
  /** Without a word. */
  silently(): Promise<void>;
  /** With a sentence for the person alone, where Slack takes one in the acknowledgement. */
  privately?(part: Part): Promise<void>;
  /** With sentences beside the fields of the form that was sent; false when the form has no such field. */
  besideField?(option: string, sentence: Message): Promise<boolean>;
  /** With another form in the place of the one that was sent. */
  withForm?(form: Form): Promise<void>;
}

export interface Asked {
  readonly acknowledge: Acknowledgement;
  /** What opens a form, for three seconds. */
  readonly triggerId: string | undefined;
  /** It was asked for in the Home tab, which shows what came of it; nothing where it speaks for itself. */
  readonly home?: { readonly direct: string; tell(message: Message | undefined): Promise<void> };
}

/**
 * Runs an invocation. What it stores is stored before the acknowledgement whenever that is quick enough, so that nothing
 * that was acknowledged is lost; otherwise the acknowledgement goes first.
 */
export async function answer(
  invocation: Invocation | Promise<Invocation>,
  { acknowledge, triggerId, home }: Asked,
  tools: AnsweringTools,
): Promise<void> {
  const asked = Promise.resolve(invocation);
  const running = asked.then((ready) => tools.bot.run(ready));
  const inTime = await Promise.race([running, tools.sleep(LIMITS.acknowledgeWithinMs)]);
  const ahead = inTime === undefined && (await promise(asked, tools));
  if (ahead) await heard(acknowledge.silently(), tools);
  const outcome = inTime ?? (await running);
  const { address, id } = await asked;
  await (ahead
    ? follow(outcome, { address, id, triggerId, home }, tools)
    : acknowledgeWith(outcome, { acknowledge, address, id, triggerId, home }, tools));
}

/** Whether it is kept that the person waits: what nobody would remember after a crash is not acknowledged. */
async function promise(asked: Promise<Invocation>, { bot }: AnsweringTools): Promise<boolean> {
  return bot.promise === undefined || (await bot.promise(await asked));
}

interface Place {
  readonly address: Address;
  readonly id: string;
  readonly triggerId: string | undefined;
  readonly home: Asked['home'];
}

async function acknowledgeWith(
  outcome: Outcome,
  { acknowledge, ...place }: Place & { acknowledge: Acknowledgement },
  tools: AnsweringTools,
): Promise<void> {
  if (outcome.type === 'message' && outcome.visibility === 'person') {
    const { option, message } = outcome;
    if (option !== undefined && (await acknowledge.besideField?.(option, message))) return;
    const [first, ...rest] = privateParts(place.address, message, tools.media);
    if (place.home === undefined && acknowledge.privately !== undefined && first !== undefined) {
      if (!(await heard(acknowledge.privately(first), tools))) await whisperPart(place.address, first, tools);
      for (const part of rest) await whisperPart(place.address, part, tools);
      return;
    }
  }
  if (outcome.type === 'form' && acknowledge.withForm !== undefined) {
    await heard(acknowledge.withForm(outcome.form), tools);
    return;
  }
  await heard(acknowledge.silently(), tools);
  await follow(outcome, place, tools);
}

/** False when the connection broke before Slack heard of it: what was taken goes on all the same. */
async function heard(acknowledging: Promise<void>, { log }: Pick<AnsweringTools, 'log'>): Promise<boolean> {
  try {
    await acknowledging;
    return true;
  } catch (error) {
    log.warn({ err: error }, 'An acknowledgement did not reach Slack');
    return false;
  }
}

/** What happens after the acknowledgement. */
async function follow(
  outcome: Outcome,
  { address, id, triggerId, home }: Place,
  tools: AnsweringTools,
): Promise<void> {
  switch (outcome.type) {
    case 'message':
      if (home !== undefined) await home.tell(outcome.message);
      else if (outcome.visibility === 'person') await whisper(address, outcome.message, tools);
      else await say(address, outcome.message, id, tools);
      return;
    case 'form':
      await openForm(
        outcome.form,
        address,
        triggerId,
        tools,
        home === undefined ? {} : { home: home.direct },
      );
      return;
    case 'accepted':
      outcome.begin();
      await home?.tell(undefined);
      return;
    default:
      outcome satisfies never;
  }
}

/** Says something to the channel; where the channel does not take it, to the person. */
async function say(address: Address, message: Message, id: string, tools: AnsweringTools): Promise<void> {
  try {
    await show(address, message, { key: keyOf(id), remember: async () => {} }, tools);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    tools.log.warn({ err: error }, 'An answer could not be shown in its place');
    await whisper(
      address,
      error.advice === undefined ? message : { ...message, footer: error.advice },
      tools,
    );
  }
}

/** At most 25 characters, as the port asks; the same for the same invocation. */
function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, 22);
}

/** Opens a form, within the three seconds that a trigger id lives. */
export async function openForm(
  form: Form,
  address: Address,
  triggerId: string | undefined,
  tools: WhisperTools & { readonly log: Log },
  origin: FormOrigin = {},
): Promise<void> {
  try {
    if (triggerId === undefined) throw new PlatformError('refused', 'There is no trigger for a form');
    await tools.web.views.open({ trigger_id: triggerId, view: formView(form, address, origin) });
  } catch (error) {
    tools.log.warn({ err: error, code: slackErrorOf(error) }, 'A form could not be opened');
    await whisper(address, { text: 'Slack did not open the form in time. Please try that again.' }, tools);
  }
}
