/** A command's tools, and their types. */
import type { Family } from '../family.ts';
import type { JobView } from '../job.ts';
import type { Judgement, KeptFile, MediaSource } from '../message.ts';
import type { InForce, Moderation, Own } from '../moderation.ts';
import type { PartyTools } from '../music/party.ts';
import type { RemovedVoice, Voice } from '../music/voice.ts';
import type { Choice, FileOption } from '../options.ts';
import type { System } from '../system.ts';
import type { SongModel, Work } from '../work.ts';
import type { Outcome } from './outcome.ts';

export interface StartRequest {
  readonly work: Work;
  /** What people see while it runs, such as "Composing “Rain”". Plain. */
  readonly title: string;
  /** The command that renders the result; the invoked one if left out. */
  readonly command?: string;
  /** The job whose result this one was made from. */
  readonly parent?: string;
  /** What it is made from, for people: “Rain”, take 1. Plain. */
  readonly madeFrom?: string;
  /** What the person said, by option, for the result. Plain. */
  readonly asked?: Readonly<Record<string, string>>;
}

/** What the operator decided about answers. Models are ids; those of gen without their route. */
export interface AnswerOffer {
  /** Upper bound of output tokens. */
  readonly maxTokens: number;
  /** Input tokens that a question may have together with what was said before. */
  readonly contextTokens: number;
  /** Reads pictures where the chosen model cannot; may begin with a route. */
  readonly visionModel?: string;
  /** A gen model that can call functions: the bot's own commands. */
  readonly toolModel?: string;
  /** Gen models that answer with text and pictures. */
  readonly illustratingModels: readonly string[];
  /** Gen models of the thinking preview; none where it is switched off. */
  readonly thinkingModels: readonly string[];
}

/** A command's tools. */
export interface Context extends Pick<System, 'now'> {
  readonly jobs: {
    /** Stores the work as a job before anything is spent. */
    start(request: StartRequest): Promise<Outcome>;
    find(id: string): Promise<JobView | undefined>;
    /** Finished jobs of this channel with songs in their result, newest first. */
    recentSongs(limit: number): Promise<readonly JobView[]>;
    /** As {@link recentSongs}, and then those of other channels of the server that the person can read. */
    serverSongs(limit: number): Promise<readonly JobView[]>;
    /** What the person has running here, or everywhere on this platform. */
    running(where?: { readonly everywhere: boolean }): Promise<readonly JobView[]>;
    /** Ends work that has not finished; false if there was nothing to end. */
    cancel(id: string): Promise<boolean>;
    /** Delivers work that was cancelled and finished anyway; false if there is nothing to show. */
    reveal(id: string): Promise<boolean>;
    /** The person's newest results that could be shown nowhere. */
    undelivered(limit: number): Promise<readonly JobView[]>;
    /** Shows such a result here; undefined if it is not the person's, or was shown meanwhile. */
    showHere(id: string): Promise<Outcome | undefined>;
  };
  readonly models: {
    /**
     * The model to use: the one named, else the channel's, the guild's, the deployment's.
     * Throws UserError when the name is not one this account may use, or when none is chosen yet.
     */
    resolve(family: Exclude<Family, 'song'>, named: string | undefined): Promise<string>;
    /** As `resolve`, for songs: the contract names their models. */
    song(named: string | undefined): Promise<SongModel>;
    suggest(family: Family, typed: string): Promise<readonly Choice[]>;
    /** The listing routes that name this id; none while no list is known. */
    listedBy(id: string): readonly ('chat' | 'msg')[];
  };
  readonly answerOffer: AnswerOffer;
  /** Keeps what the person says of an answer; a vote of theirs on it before is replaced. */
  judge(answer: JobView, judgement: Judgement): Promise<void>;
  /** Why the bot hears no messages without its name here: a plain sentence; undefined where it hears them. */
  readonly hearsOnlyItsName: string | undefined;
  readonly inForce: InForce;
  readonly own: Own;
  /** Whether the operator gave prices, so that units mean something. */
  readonly hasUnits: boolean;
  /** The caller has checked that the person is a moderator, by {@link Command.moderatorsOnly}. */
  readonly moderation: Moderation;
  readonly pages: {
    /** The address of a song's page; undefined if moderators switched pages off, or if people could not reach it. */
    of(song: JobView): Promise<string | undefined>;
    /** Takes the page of a song away, or gives it back. */
    setWithdrawn(song: JobView, withdrawn: boolean): Promise<void>;
  };
  readonly files: {
    /**
     * A file of a finished job's result: the kept one, or fetched anew. Throws UserError when it is kept nowhere any more.
     */
    made(job: JobView, source: MediaSource, accept: FileOption['accept']): Promise<KeptFile>;
  };
  /** The voices of this server, or of this conversation where there is no server. */
  readonly voices: {
    /** By name. */
    list(): Promise<readonly Voice[]>;
    /** False when there was none. */
    remove(personaId: string): Promise<boolean>;
    removed(): Promise<readonly RemovedVoice[]>;
    /** Keeps a voice that the gateway has. A name that is taken gets a number. */
    keep(voice: Voice): Promise<void>;
  };
  /** What is played in voice channels; undefined where there are none. Loads what plays. */
  party(): Promise<PartyTools | undefined>;
}
