/** What a command may ask of the gateway, and what came of it. Types only, so that no layer depends on the client. */
import type { Finish, TextPart, Usage } from '../gateway/answers.ts';
import type { ImageRequest, VideoRequest } from '../gateway/media/requests.ts';
import type * as music from '../gateway/music/requests.ts';
import type { LyricVariant, SongItem, StemItem } from '../gateway/music/results.ts';
import type { Question, Turn } from '../gateway/questions.ts';
import type { HistoryReference } from './invocation.ts';
import type { KeptFile, MediaSource } from './message.ts';
import type { MODEL_ROUTES } from './model-name.ts';
import type { FileReference } from './options.ts';

/** A request as a command writes it: jobs add the address of the callback. */
type Callable<Request> = Request extends unknown ? Omit<Request, 'callBackUrl'> : never;
/** The same for work on a recording: jobs add its signed address, and where it ends. */
type Uploading<Request> = Request extends unknown
  ? Omit<Request, 'callBackUrl' | 'uploadUrl' | 'continueAt'>
  : never;

/** A file of another job's result, named until the first step of the job has fetched it. */
export interface ResultFile {
  readonly job: string;
  readonly source: MediaSource;
}

export type NamedFile = FileReference | ResultFile;
export type WorkFile = KeptFile | NamedFile;

/** A recording whose length the gateway takes. */
export interface KeptRecording extends KeptFile {
  readonly seconds: number;
}

/** Named until the first step of the job has fetched and measured it. */
export type Recording = KeptRecording | NamedFile;

/** The gateway dialect that answers an `ask` model. */
export type AnswerDialect = (typeof MODEL_ROUTES)['ask'][number];

/** What people attached is kept as a file, so that the record of a job stays small. */
export type InquiryPart =
  | TextPart
  /** Named until the first step of the job has fetched it. */
  | { readonly type: 'file'; readonly file: FileReference }
  | { readonly type: 'image'; readonly file: KeptFile }
  | { readonly type: 'document'; readonly file: KeptFile; readonly name: string };

export interface InquiryTurn {
  readonly role: Turn['role'];
  readonly parts: readonly InquiryPart[];
  /** The platform's id of whose words these are, or whom they answer. */
  readonly person?: string;
  /** Who says it, for group talk. */
  readonly name?: string;
  /** The job whose answer this is, or the event that it answers, until the first step has read the answer from the job. */
  readonly job?: string;
  readonly answers?: string;
}

/** A question as it is stored: pictures by reference. */
export interface Inquiry extends Omit<Question, 'turns' | 'tools'> {
  readonly turns: readonly InquiryTurn[];
}

/** One paid request of the gateway. It is stored with the job, so it is JSON. */
export type Work =
  | {
      readonly route: 'music.generate';
      readonly request: Callable<music.GenerateRequest>;
      /** Rough style tags, to be polished by `music/style-generate` first. */
      readonly roughStyle?: string;
      /** What the lyrics are about, to be written by `music/generate-lyrics` first. */
      readonly lyricsAbout?: string;
      /** The name of the voice of `personaId`. */
      readonly voiceName?: string;
    }
  | {
      readonly route: 'music.extend';
      readonly request: Callable<music.ExtendRequest>;
      /** The song has no voice. */
      readonly instrumental?: boolean;
    }
  | { readonly route: 'music.generateLyrics'; readonly request: Callable<music.GenerateLyricsRequest> }
  | { readonly route: 'music.generateCover'; readonly request: Callable<music.GenerateCoverRequest> }
  | {
      readonly route: 'music.uploadCover';
      readonly request: Uploading<music.UploadCoverRequest>;
      readonly audio: Recording;
      readonly lyricsAbout?: string;
      readonly voiceName?: string;
    }
  | {
      readonly route: 'music.uploadExtend';
      readonly request: Uploading<music.UploadExtendRequest>;
      readonly audio: Recording;
      /** The recording has no voice. */
      readonly instrumental?: boolean;
    }
  | {
      readonly route: 'music.addVocals';
      readonly request: Uploading<music.AddVocalsRequest>;
      readonly audio: Recording;
    }
  | {
      readonly route: 'music.addInstrumental';
      readonly request: Uploading<music.AddInstrumentalRequest>;
      readonly audio: Recording;
    }
  | {
      readonly route: 'music.timestampedLyrics';
      readonly request: music.TimestampedLyricsRequest;
      /** For the head of the .lrc file. */
      readonly song: { readonly title: string; readonly artist: string; readonly durationSeconds?: number };
    }
  | { readonly route: 'music.generatePersona'; readonly request: music.GeneratePersonaRequest }
  | { readonly route: 'music.vocalRemoval'; readonly request: Callable<music.VocalRemovalRequest> }
  | {
      readonly route: 'music.wavGenerate';
      readonly request: Callable<music.WavGenerateRequest>;
    }
  | {
      readonly route: 'music.mp4Generate';
      readonly request: Callable<music.Mp4GenerateRequest>;
    }
  | { readonly route: 'media.image'; readonly request: ImageRequest }
  | { readonly route: 'gen.image'; readonly request: Inquiry }
  | {
      readonly route: 'media.video';
      readonly request: Omit<VideoRequest, 'imageUrl' | 'audioUrl'>;
      /** What people attached; the gateway gets a signed URL of it. */
      readonly image?: WorkFile;
      readonly audio?: WorkFile;
    }
  | AnswerWork;

export interface AnswerWork {
  readonly route: 'answer';
  readonly dialect: AnswerDialect;
  readonly request: Inquiry;
  /** What was said before, until the first step of the job has read it into the request. */
  readonly history?: HistoryReference;
  /** Answers instead if a picture turns up in what the first step reads. */
  readonly seeing?: AnswerPlan;
  /** How the gen dialect is asked, where it is not for plain text. Jobs are stored under this name. */
  readonly way?: AnswerWay;
  /** Input tokens that may be sent; the oldest turns are left out for it. Absent: all turns. */
  readonly contextTokens?: number;
  /** It answers a message in the channel, so the question need not be repeated above it. */
  readonly reply?: boolean;
  /** Model, route and tokens are shown under the answer unless this is false. */
  readonly footer?: boolean;
  /** A plain sentence for the small print. */
  readonly note?: string;
}

/** Who answers, and how. */
export interface AnswerPlan extends Pick<AnswerWork, 'dialect' | 'way' | 'note'> {
  readonly model: string;
}

export type AnswerWay =
  /** Function calling: names of commands that the model may use. `named`: the person named this model. */
  | { readonly type: 'tools'; readonly commands: readonly string[]; readonly named?: true }
  /** Text and pictures. */
  | { readonly type: 'illustrated' }
  /** The thinking preview. */
  | { readonly type: 'thinking' };

/** A command that the model used, in the name of the person who asked. */
export interface CommandCall {
  readonly command: string;
  /** What it was given, for people. Plain. */
  readonly given: string;
  /** `refused`: `sentence` says why. */
  readonly outcome: 'started' | 'answered' | 'refused';
  /** Markdown, as the person would have read it. */
  readonly sentence?: string;
}

export type Route = Work['route'];

export type SongModel = Extract<Work, { route: 'music.generate' }>['request']['model'];

export interface AnswerResult {
  /** Markdown. */
  readonly text: string;
  /** Absent while it is being written. `stopped`: by a person. `broken`: it ended without its end mark. */
  readonly finish?: Finish | { readonly reason: OwnFinish; readonly detail?: string };
  readonly usage?: Usage;
  /** Commands that the model used, in order. */
  readonly calls?: readonly CommandCall[];
  readonly leftOut?: LeftOut;
}

/** Parts of a question that the model did not get. */
export interface LeftOut {
  /** Characters at the end of the question, for which the model has no room. */
  readonly characters?: number;
  /** Images of earlier messages, which the model rejected. */
  readonly images?: number;
}

/**
 * Ends that are not the model's own. `endless`: it went on past every bound. `rounds`: it went on asking for commands.
 */
export type OwnFinish = 'stopped' | 'broken' | 'endless' | 'rounds';

/** A line of a song, and the second when it begins. */
export interface LyricLine {
  readonly startSeconds: number;
  readonly text: string;
  /** The heading before it, such as `Chorus`. */
  readonly section?: string;
}

export interface Karaoke {
  /** The lines as an .lrc file; absent when nothing is sung. */
  readonly file?: KeptFile;
  readonly lines: readonly LyricLine[];
}

/** What came of keeping a voice: each audio gives one (contract, "Limits" 1), and a second try gives none. */
export type KeptVoice =
  | { readonly outcome: 'kept'; readonly personaId: string }
  | { readonly outcome: 'kept-before' };

/** What the gateway has made so far; complete once the job is `ready`. */
export interface Result {
  readonly songs: readonly SongItem[];
  readonly lyrics: readonly LyricVariant[];
  /** At the gateway's temporary URL, or kept where they came as bytes. */
  readonly images: readonly MediaSource[];
  readonly stems: readonly StemItem[];
  readonly wavUrl?: string;
  readonly videoUrl?: string;
  readonly karaoke?: Karaoke;
  readonly voice?: KeptVoice;
  readonly answer?: AnswerResult;
}
