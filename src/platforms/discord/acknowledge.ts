/** One interaction, from its arrival to the bot's first word: always answered before Discord's three seconds are over. */
import { ApplicationCommandType, MessageFlags } from 'discord.js';
import type { Address, ConversationTurn, Invocation, Log, Outcome } from '../../command.ts';
import type { Message } from '../../message.ts';
import type { Bot, MediaReader } from '../platform.ts';
import { ASK } from './conversation.ts';
import { troubleOf } from './errors.ts';
import type { CommandInteraction, Interaction } from './interaction.ts';
import { invocationOf } from './invocation.ts';
import { DEFAULT_FILE_BYTES } from './limits.ts';
import { menuForm, modalOf, openFormButton } from './modal.ts';
import { type LiveToken, placeOf } from './place.ts';
import { type Page, render } from './render.ts';
import type { DiscordRest, Sending } from './rest.ts';
import { OPEN_THREAD, openThread } from './threads.ts';
import { sendingOf } from './uploads.ts';

/** Half of Discord's 3 s, so that the deferring itself has time to arrive. */
const DEFER_AFTER_MS = 1_500;
const OUTDATED: Message = {
  text: 'This button belongs to a version of me that is no more. Please use the command again.',
};
const FORM_LATE: Message = { text: 'That took me a moment. Here is the form:' };

export interface AcknowledgeDependencies {
  readonly bot: Bot;
  readonly rest: DiscordRest;
  readonly media: MediaReader;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** The bot reads what is written without a mention. */
  readonly messageContent: boolean;
  /** What was said before in a thread that the bot opened; nothing elsewhere. Never rejects. */
  readonly talk: (interaction: Interaction) => Promise<readonly ConversationTurn[]>;
  /** Says something when the interaction's token can no longer. */
  readonly whisper: (address: Address, message: Message) => Promise<void>;
}

type Answerable = Exclude<Interaction, { type: 4 }>;
/** Whether Discord shows that the bot is thinking, and to whom. */
type Deferral = 'none' | 'public' | 'private' | 'failed';

/** Never rejects. */
export async function acknowledge(interaction: Answerable, d: AcknowledgeDependencies): Promise<void> {
  if (interaction.type === 2 && interaction.data.type === ApplicationCommandType.Message) {
    return await openMenuForm(interaction, d);
  }
  if (interaction.type === 3 && interaction.data.custom_id === OPEN_THREAD) {
    return await openThread(interaction, d);
  }
  const invocation = invocationOf(interaction, d.now());
  if (!invocation) return await answerAlone(interaction, OUTDATED, d);
  const token: LiveToken = {
    application: interaction.application_id,
    token: interaction.token,
    expiresAt: Number.POSITIVE_INFINITY,
  };
  const isPrivate = d.bot.commands.some(
    (command) => command.name === invocation.command && command.answersPrivately,
  );
  const running = runWithTalk(interaction, invocation, d);
  const deferral = await deferIfSlow({ interaction, invocation, isPrivate }, running, d);
  await answer({ interaction, invocation, token, deferral, isPrivate }, await running, d);
}

/** A question in a thread of the bot goes on with what was said there. */
async function runWithTalk(
  interaction: Answerable,
  invocation: Invocation,
  d: AcknowledgeDependencies,
): Promise<Outcome> {
  if (invocation.command !== ASK || invocation.action) return await d.bot.run(invocation);
  const conversation = await d.talk(interaction);
  return await d.bot.run(conversation.length > 0 ? { ...invocation, conversation } : invocation);
}

interface Asked {
  readonly interaction: Answerable;
  readonly invocation: Invocation;
  readonly isPrivate: boolean;
}

async function deferIfSlow(
  { interaction, invocation, isPrivate }: Asked,
  running: Promise<Outcome>,
  d: AcknowledgeDependencies,
): Promise<Deferral> {
  const done = new AbortController();
  const slow = d.sleep(DEFER_AFTER_MS, done.signal).then(() => 'slow' as const);
  const first = await Promise.race([running, slow]);
  done.abort();
  if (first !== 'slow') return 'none';
  // What nobody would remember after a crash is not acknowledged.
  if (d.bot.promise && !(await d.bot.promise(invocation))) return 'none';
  return await defer(interaction, isPrivate, d);
}

async function defer(
  interaction: Answerable,
  isPrivate: boolean,
  { rest, log }: AcknowledgeDependencies,
): Promise<Deferral> {
  try {
    await rest.defer(interaction, isPrivate ? MessageFlags.Ephemeral : 0);
    return isPrivate ? 'private' : 'public';
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'Discord did not take the acknowledgement');
    return 'failed';
  }
}

interface Answering {
  readonly interaction: Answerable;
  readonly invocation: Invocation;
  readonly token: LiveToken;
  readonly deferral: Deferral;
  readonly isPrivate: boolean;
}

async function answer(answering: Answering, outcome: Outcome, d: AcknowledgeDependencies): Promise<void> {
  switch (outcome.type) {
    case 'accepted':
      // The job is stored: it goes on whether or not Discord took the acknowledgement.
      if (answering.deferral === 'none') await defer(answering.interaction, answering.isPrivate, d);
      return outcome.begin();
    case 'message': {
      const alone = outcome.visibility === 'person' || answering.isPrivate;
      return await say(answering, pagesOf(outcome.message, answering, d), outcome.message, alone, d);
    }
    case 'form': {
      if (answering.deferral === 'none') {
        return await orWhisper(answering, FORM_LATE, d, () =>
          d.rest.openForm(answering.interaction, modalOf(outcome.form)),
        );
      }
      const pages: Page[] = pagesOf(FORM_LATE, answering, d).map((page) => ({
        ...page,
        components: [openFormButton(outcome.form)],
      }));
      return await say(answering, pages, FORM_LATE, true, d);
    }
    default:
      return outcome satisfies never;
  }
}

function pagesOf(message: Message, { invocation }: Answering, { media }: AcknowledgeDependencies): Page[] {
  return render(message, {
    fileBytes: placeOf(invocation.address).fileBytes ?? DEFAULT_FILE_BYTES,
    link: media.link,
  });
}

/** The first page as the response, the others after it. */
async function say(
  answering: Answering,
  pages: readonly Page[],
  message: Message,
  alone: boolean,
  d: AcknowledgeDependencies,
): Promise<void> {
  const { interaction, token, deferral } = answering;
  await orWhisper(answering, message, d, async () => {
    let filled = false;
    for (const page of pages) {
      const sending = withFlags(await sendingOf(page, [], d.media), alone ? MessageFlags.Ephemeral : 0);
      if (filled) await d.rest.followUp(token, sending);
      else if (deferral === 'none') await d.rest.reply(interaction, sending);
      else if (deferral === 'public' && alone) {
        // A deferred response keeps the visibility it was announced with.
        await d.rest.deleteResponse(token, '@original');
        await d.rest.followUp(token, sending);
      } else await d.rest.editResponse(token, '@original', sending);
      filled = true;
    }
  });
}

const withFlags = (sending: Sending, flags: number): Sending => ({
  ...sending,
  body: { ...sending.body, flags },
});

/** A sentence that cannot be said in place goes to the person directly. */
async function orWhisper(
  { invocation, deferral }: Answering,
  message: Message,
  d: AcknowledgeDependencies,
  speak: () => Promise<void>,
): Promise<void> {
  try {
    if (deferral === 'failed') await d.whisper(invocation.address, message);
    else await speak();
  } catch (error) {
    d.log.warn({ err: error, trouble: troubleOf(error) }, 'Discord did not take an answer');
    if (deferral === 'failed') return;
    await d.whisper(invocation.address, message).catch((failure: unknown) => {
      d.log.error({ err: failure, invocation: invocation.id }, 'An answer could be said nowhere');
    });
  }
}

/** The entry in a message's menu: the command's form with the message in one of its fields. */
async function openMenuForm(interaction: CommandInteraction, d: AcknowledgeDependencies): Promise<void> {
  const form = menuForm(interaction, d.bot.commands);
  if (!form) return await answerAlone(interaction, OUTDATED, d);
  try {
    await d.rest.openForm(interaction, modalOf(form));
  } catch (error) {
    d.log.warn({ err: error, trouble: troubleOf(error) }, 'Discord did not open a form');
  }
}

async function answerAlone(
  interaction: Interaction,
  message: Message,
  d: AcknowledgeDependencies,
): Promise<void> {
  const [page] = render(message, { fileBytes: DEFAULT_FILE_BYTES, link: d.media.link });
  if (!page) return;
  try {
    await d.rest.reply(interaction, withFlags(await sendingOf(page, [], d.media), MessageFlags.Ephemeral));
  } catch (error) {
    d.log.warn({ err: error, trouble: troubleOf(error) }, 'Discord did not take an answer');
  }
}
