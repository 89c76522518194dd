/** What a command may ask of the gateway, and what came of it. Types only, so that no layer depends on the client. */
import type { Address, Person } from './command.ts';
import type { Finish, Question, TextPart, Turn, Usage } from './gateway/answers.ts';
import type { ImageRequest, VideoRequest } from './gateway/media.ts';
import type {
  AddInstrumentalRequest,
  AddVocalsRequest,
  ExtendRequest,
  GenerateCoverRequest,
  GenerateLyricsRequest,
  GenerateRequest,
  LyricVariant,
  Mp4GenerateRequest,
  SongItem,
  StemItem,
  UploadCoverRequest,
  UploadExtendRequest,
  VocalRemovalRequest,
  WavGenerateRequest,
} from './gateway/music.ts';
import type { KeptFile } from './message.ts';

/** A request as a command writes it: jobs add the address of the callback. */
type Callable<Request> = Request extends unknown ? Omit<Request, 'callBackUrl'> : never;

/** The gateway dialect that answers an `ask` model. */
export type AnswerRoute = 'chat' | 'msg' | 'gen';

/** What people attached is kept as a file, so that the record of a job stays small. */
export type InquiryPart = TextPart | { readonly type: 'image'; readonly file: KeptFile };

export interface InquiryTurn {
  readonly role: Turn['role'];
  readonly parts: readonly InquiryPart[];
}

/** A question as it is stored: pictures by reference. */
export interface Inquiry extends Omit<Question, 'turns' | 'tools'> {
  readonly turns: readonly InquiryTurn[];
}

/** One paid request of the gateway. It is stored with the job, so it is JSON. */
export type Work =
  | {
      readonly route: 'music.generate';
      readonly request: Callable<GenerateRequest>;
      /** Rough style tags, to be polished by `music/style-generate` first. */
      readonly roughStyle?: string;
      /** What the lyrics are about, to be written by `music/generate-lyrics` first. */
      readonly lyricsAbout?: string;
    }
  | { readonly route: 'music.extend'; readonly request: Callable<ExtendRequest> }
  | { readonly route: 'music.generateLyrics'; readonly request: Callable<GenerateLyricsRequest> }
  | { readonly route: 'music.generateCover'; readonly request: Callable<GenerateCoverRequest> }
  | { readonly route: 'music.uploadCover'; readonly request: Callable<UploadCoverRequest> }
  | { readonly route: 'music.uploadExtend'; readonly request: Callable<UploadExtendRequest> }
  | { readonly route: 'music.addVocals'; readonly request: Callable<AddVocalsRequest> }
  | { readonly route: 'music.addInstrumental'; readonly request: Callable<AddInstrumentalRequest> }
  | { readonly route: 'music.vocalRemoval'; readonly request: Callable<VocalRemovalRequest> }
  | { readonly route: 'music.wavGenerate'; readonly request: Callable<WavGenerateRequest> }
  | { readonly route: 'music.mp4Generate'; readonly request: Callable<Mp4GenerateRequest> }
  | { readonly route: 'media.image'; readonly request: ImageRequest }
  | { readonly route: 'gen.image'; readonly request: Inquiry }
  | {
      readonly route: 'media.video';
      readonly request: Omit<VideoRequest, 'imageUrl' | 'audioUrl'>;
      /** What people attached; the gateway gets a signed URL of it. */
      readonly image?: KeptFile;
      readonly audio?: KeptFile;
    }
  | { readonly route: 'answer'; readonly dialect: AnswerRoute; readonly request: Inquiry };

export type Route = Work['route'];

/** A picture at the gateway's temporary URL, or one that came as bytes and was kept. */
export type ImageItem =
  | { readonly type: 'remote'; readonly url: string }
  | { readonly type: 'kept'; readonly file: KeptFile };

export interface AnswerResult {
  /** Markdown. */
  readonly text: string;
  /** Absent while it is being written. `stopped`: by a person. `broken`: the stream ended without its end mark. */
  readonly finish?: Finish | { readonly reason: 'stopped' | 'broken'; readonly detail?: string };
  readonly usage?: Usage;
}

/** What the gateway has made so far; complete once the job is `ready`. */
export interface Result {
  readonly songs: readonly SongItem[];
  readonly lyrics: readonly LyricVariant[];
  readonly images: readonly ImageItem[];
  readonly stems: readonly StemItem[];
  readonly wavUrl?: string;
  readonly videoUrl?: string;
  readonly answer?: AnswerResult;
}

export type JobState =
  | 'accepted'
  | 'submitting'
  | 'waiting'
  | 'ready'
  | 'delivered'
  | 'failed'
  | 'expired'
  | 'cancelled';

/** What commands see of a job. */
export interface JobView {
  readonly id: string;
  readonly state: JobState;
  readonly command: string;
  readonly title: string;
  readonly address: Address;
  readonly person: Person;
  readonly work: Work;
  readonly parent?: string;
  /** The gateway's own id of the work. */
  readonly taskId?: string;
  readonly result?: Result;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly finishedAt?: number;
}
