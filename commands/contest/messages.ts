/** The messages of a contest: its announcement, its ballot and its result. Pure. */
import { extname } from 'node:path';
import { type Contest, type ContestStanding, takesPart, winnersOf } from '../../src/core/contest.ts';
import type { JobView } from '../../src/core/job.ts';
import {
  type ActionButton,
  actionId,
  type Button,
  type Field,
  type MediaFile,
  type MediaItem,
  type Message,
  plain,
} from '../../src/core/message.ts';
import { timeText } from '../../src/core/util/moment.ts';
import { counted, duration } from '../../src/core/util/words.ts';
import { shortened } from '../text/phrases.ts';

/** Characters of a theme in titles. */
const LONGEST_THEME = 100;
/** Vote buttons in a row. */
const ROW = 5;
const HOUR = 3_600_000;
const TOGETHER = 'To listen together, join a voice channel and use /party contest.';
const VOTES_LOST = 'A poll was deleted before the end, so its votes are missing.';

const titleOf = ({ theme }: Pick<Contest, 'theme'>): string =>
  `Song contest: ${shortened(theme, LONGEST_THEME)}`;

/** Such as `3 hours` or `1 day`. */
export function votingTime(milliseconds: number): string {
  const hours = Math.round(milliseconds / HOUR);
  return hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour');
}

function timeField(name: string, at: number, zone: string): Field {
  return { name, value: `${timeText(at, zone)} (${zone})`, at };
}

const contestButton = (
  { id: job }: Pick<Contest, 'id'>,
  action: string,
  label: string,
  index = 0,
): ActionButton => ({
  type: 'action',
  id: actionId({ command: 'contest', action, job, index }),
  label,
});

export interface AnnouncementFacts {
  readonly zone: string;
  /** Songs entered in time that are unfinished when entries close. */
  readonly unfinished: number;
}

export function announcement(contest: Contest, { zone, unfinished }: AnnouncementFacts): Message {
  const { state, entries, entriesPerPerson, endsAt, votingMs, startedBy, result } = contest;
  const title = titleOf(contest);
  const footer = `Started by ${startedBy.displayName}`;
  if (state === 'over') return { title, text: overText(contest), footer };
  const count = { name: 'Entries', value: String(entries.length) };
  if (state === 'voting' || result)
    return { title, text: 'Entries are closed. Listen to them below, and vote.', fields: [count], footer };
  if (unfinished > 0)
    return {
      title,
      text: `Entries are closed. The vote starts when the last ${unfinished === 1 ? 'song is' : `${unfinished} songs are`} finished.`,
      fields: [count],
      footer,
    };
  const often =
    entriesPerPerson === 1 ? 'once' : entriesPerPerson === 2 ? 'twice' : `${entriesPerPerson} times`;
  return {
    title,
    text: `Enter a song about this theme: press **Enter**, or use /song in this channel. I'll send you the song in a direct message, and nobody else will know that it's yours until the vote is over. You can enter ${often}.`,
    fields: [
      timeField('Entries close', endsAt, zone),
      { name: 'Vote', value: `lasts ${votingTime(votingMs)} after that` },
      { ...count, name: 'Entries so far' },
    ],
    actions: [{ ...contestButton(contest, 'enter', 'Enter'), emphasis: 'primary' }],
    footer,
  };
}

function overText({ result, entries }: Contest): string {
  if (result?.cancelledBy) return `Cancelled by ${plain(result.cancelledBy.displayName)}.`;
  if (result?.standings.length) return 'The contest is over. The result is below.';
  return entries.length === 0
    ? 'The contest is over. It had no entries.'
    : 'The contest is over. None of its songs could be played.';
}

interface BallotFacts extends Pick<AnnouncementFacts, 'zone'> {
  /** Number of polls below the message; 0 if people vote with its buttons. */
  readonly polls: number;
  /** The platform has voice channels. */
  readonly hasVoice: boolean;
}

export function ballotMessage(contest: Contest, { zone, polls, hasVoice }: BallotFacts): Message {
  const { ballot, votingEndsAt = 0, state } = contest;
  const numbered = ballot.map((candidate, index) => ({ candidate, number: index + 1 }));
  const open = numbered.filter(({ candidate }) => takesPart(contest, candidate));
  const gone = numbered.filter(({ candidate }) => !takesPart(contest, candidate));
  const isOpen = state === 'voting';
  const notes = gone.map(({ number }) => `Entry ${number} was withdrawn.`);
  const text = isOpen
    ? `Listen to the entries, then vote. ${votingHelp(polls)} The names are shown after the vote.`
    : 'The vote is over. The result is below.';
  return {
    title: `${titleOf(contest)}: ${counted(open.length, 'entry', 'entries')}`,
    text: [text, ...(isOpen && hasVoice ? [TOGETHER] : []), ...notes].join('\n\n'),
    fields: isOpen ? [timeField('Voting ends', votingEndsAt, zone)] : [],
    media: open.map(
      ({ candidate: { file, seconds }, number }): MediaItem => ({
        kind: 'audio',
        name: `Entry ${number}${extname(file.name)}`,
        source: { type: 'stored', file },
        caption: seconds === undefined ? `Entry ${number}` : `Entry ${number} · ${duration(seconds)}`,
      }),
    ),
    actions: isOpen && polls === 0 ? open.map(({ number }) => voteButton(contest, number)) : [],
  };
}

function votingHelp(polls: number): string {
  if (polls === 0) return 'You have one vote, and you can change it.';
  return polls === 1 ? 'The poll is below.' : 'You have one vote in each poll below.';
}

function voteButton(contest: Contest, number: number): ActionButton {
  const first = number - ((number - 1) % ROW);
  return {
    ...contestButton(contest, 'vote', `Vote for entry ${number}`, number),
    short: `Vote ${number}`,
    group: `Entries ${first} to ${first + ROW - 1}`,
  };
}

export interface WinningSong {
  readonly standing: ContestStanding;
  readonly file: MediaFile;
}

export interface ResultFacts {
  /** The winners' songs that are still stored. */
  readonly songs: readonly WinningSong[];
  /** Links to the songs' pages, by job. */
  readonly pages: ReadonlyMap<string, string>;
  /** Link to a page with all entries. */
  readonly album: string | undefined;
}

export function contestResult(contest: Contest, { songs, pages, album }: ResultFacts): Message {
  const standings = contest.result?.standings ?? [];
  const winners = winnersOf(standings);
  const name = ({ job, title }: ContestStanding) => {
    const page = pages.get(job);
    return page === undefined ? plain(title) : `[${plain(title)}](<${page}>)`;
  };
  const rows = standings.map(
    (standing) =>
      `| ${standing.votes} | ${standing.number} | ${name(standing)} | ${plain(standing.person.displayName)} |`,
  );
  const table = ['| Votes | Entry | Song | By |', '|---:|---:|---|---|', ...rows].join('\n');
  return {
    title: `${titleOf(contest)}: ${winners.length === 1 ? 'the winner' : 'the result'}`,
    text: [verdict(winners), table, ...(contest.result?.votesLost ? [VOTES_LOST] : [])].join('\n\n'),
    media: songs.map(
      ({ standing: { title }, file }): MediaItem => ({
        kind: 'audio',
        name: `${title}${extname(file.name)}`,
        source: { type: 'stored', file },
      }),
    ),
    actions: [
      ...winners.flatMap(({ job, title }): Button[] => {
        const url = pages.get(job);
        const label = `Listen to ${shortened(title, 50)}`;
        return url === undefined ? [] : [{ type: 'link', url, label, short: 'Listen', icon: 'listen' }];
      }),
      ...(album === undefined
        ? []
        : [{ type: 'link' as const, url: album, label: 'All entries', icon: 'page' as const }]),
    ],
  };
}

function verdict(winners: readonly ContestStanding[]): string {
  const [first] = winners;
  if (!first) return 'Nobody voted, so there is no winner.';
  const names = winners.map(({ title, person }) => `**${plain(title)}** by **${plain(person.displayName)}**`);
  const votes = counted(first.votes, 'vote');
  if (names.length === 1) return `${names[0]} wins with ${votes}. Congratulations!`;
  const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
  return `It's a tie: ${list} win with ${votes} each. Congratulations!`;
}

/** The fields and buttons that a song's message has for its requester while it is an entry. */
export function entryParts(job: JobView): {
  readonly fields: readonly Field[];
  readonly actions: readonly Button[];
} {
  const { contest, hidden, result, id } = job;
  if (!contest || !hidden) return { fields: [], actions: [] };
  const takes = result?.songs ?? [];
  const entry = { id };
  const choose = takes.map((_, index) => ({
    ...contestButton(entry, 'take', `Enter take ${index + 1}`, index),
    group: 'Contest',
  }));
  const note =
    takes.length > 1
      ? 'Take 1 is your entry unless you choose another one. Keep it secret until the vote is over.'
      : 'This is your entry. Keep it secret until the vote is over.';
  return {
    fields: [{ name: 'Contest', value: note }],
    actions: [
      ...(takes.length > 1 ? choose : []),
      { ...contestButton(entry, 'withdraw', 'Withdraw entry'), icon: 'remove', group: 'Contest' },
    ],
  };
}
