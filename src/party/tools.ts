/** The controls of a party, and who may use them. */
import { UserError } from '../core/errors.ts';
import { serverOf } from '../core/invocation.ts';
import type { PartyTools } from '../core/music/party.ts';
import { counted } from '../core/util/words.ts';
import { lineAt } from './details.ts';
import { votesNeeded } from './events.ts';
import type { PartyHost } from './host.ts';
import { createPlay, type PartyRequester, type ToolParts, voiceChannelOf } from './play.ts';

const NOTHING_PLAYING = 'Nothing is playing here. Start with /party play.';

/** Creates the tools of a person at an address. */
export function partyToolsFor({ address, person }: PartyRequester, parts: ToolParts): PartyTools {
  const { random, hosted } = parts;
  const guild = serverOf(address);

  /** Returns the party if the person is listening or moderates. Throws UserError. */
  async function controlledHost(): Promise<PartyHost> {
    const host = guild === undefined ? undefined : hosted.get(guild);
    if (guild === undefined || !host) throw new UserError(NOTHING_PLAYING);
    if (person.moderator) return host;
    const channel = await voiceChannelOf(guild, person, parts.voice);
    if (channel !== 'gone' && channel?.id === host.party.channel) return host;
    throw new UserError("To control the music, join the voice channel I'm playing in.");
  }

  /** Throws UserError while they are unknown, when one person could decide for everyone. */
  function knownListeners({ listeners }: PartyHost): readonly string[] {
    if (listeners) return listeners;
    throw new UserError("I can't see who is listening yet. Try again in a moment.");
  }

  return {
    play: createPlay({ address, person }, parts),

    async skip() {
      const host = await controlledHost();
      const { current, round } = host.party;
      if (!current) throw new UserError(NOTHING_PLAYING);
      const { title, by } = current;
      if (person.moderator || by?.id === person.id) {
        await host.apply({ type: 'skipped', round });
        return `Skipped ${title}.`;
      }
      const listeners = knownListeners(host);
      const after = await host.apply({ type: 'voted', person: person.id, listeners });
      if (after.round !== round) return `Skipped ${title}, because most listeners voted to skip it.`;
      return `You voted to skip: ${after.votes.length} of ${votesNeeded(listeners.length)} votes.`;
    },

    async remove(position) {
      const host = await controlledHost();
      const { queue } = host.party;
      const song = queue[position - 1];
      if (!song)
        throw new UserError(
          `There is no song at position ${position}. The queue has ${counted(queue.length, 'song')}. To see it, use /party queue.`,
          'position',
        );
      if (!person.moderator && song.by?.id !== person.id)
        throw new UserError('Only a moderator or the person who queued this song can remove it.');
      await host.apply({ type: 'removed', song: song.id });
      return `Removed ${song.title} from the queue.`;
    },

    async shuffle() {
      const host = await controlledHost();
      await host.apply({ type: 'shuffled', random: host.party.queue.map(() => random()) });
      return 'Shuffled the queue.';
    },

    async loop(loop) {
      await (await controlledHost()).apply({ type: 'looped', loop });
      return loop === 'off' ? 'Repeat is off.' : `Repeating the ${loop}.`;
    },

    async radio(on) {
      await (await controlledHost()).apply({ type: 'radio', on });
      return on
        ? 'The radio is on. When the queue is empty, I play recent songs from this channel.'
        : 'The radio is off.';
    },

    async pause() {
      await (await controlledHost()).apply({ type: 'paused' });
      return 'Paused.';
    },

    async resume() {
      await (await controlledHost()).apply({ type: 'resumed' });
      return 'Resumed.';
    },

    async stop() {
      const host = await controlledHost();
      const { current, queue } = host.party;
      const isOwn = [current, ...queue].every((song) => !song?.by || song.by.id === person.id);
      if (!person.moderator && !isOwn && knownListeners(host).some((id) => id !== person.id))
        throw new UserError(
          'Others are listening and have queued songs. Ask a moderator to stop the music, or vote with /party skip.',
        );
      await host.stop();
      return 'Stopped. I left the voice channel.';
    },

    async now() {
      const host = guild === undefined ? undefined : hosted.get(guild);
      if (!host) return undefined;
      const { party, seconds } = host;
      const lines = party.current ? await parts.linesOf(party.current) : [];
      return { party, seconds, line: lineAt(lines, seconds) };
    },
  };
}
