import type { SongRecipe } from './studio/synthesizer/recipe.ts';

export type MusicTaskKind = 'songs' | 'lyrics' | 'cover' | 'stems' | 'wav' | 'video';

/** One generated song; its sound is made anew from the recipe whenever a route needs it. */
export interface Audio {
  readonly id: string;
  recipe: SongRecipe;
  readonly model: string;
  readonly tags: string;
  readonly createdAt: number;
  seconds: number | null;
  audioUrl: string | null;
  imageUrl: string | null;
}

/** A music task; complete once its last callback was sent, and no longer when no attempt was taken. */
export interface MusicTask {
  readonly id: string;
  readonly kind: MusicTaskKind;
  readonly audios: Audio[];
  state: 'working' | 'complete' | 'failed' | 'undelivered';
}

interface Persona {
  readonly id: string;
  readonly audioId: string;
  /** What a singer is chosen from, equal for every song with this persona. */
  readonly voice: string;
}

export const mostRemembered = 5000;
const mostUploadBytes = 256 * 1024 * 1024;

export type Store = ReturnType<typeof createStore>;

/** What the emulator remembers of music while it runs. Old tasks are forgotten past a bound. */
export function createStore() {
  const audios = new BoundedMap<Audio>(mostRemembered * 2);
  const tasks = new BoundedMap<MusicTask>(mostRemembered);
  const uploads: { readonly task: MusicTask; readonly bytes: number }[] = [];
  let uploadBytes = 0;
  return {
    tasks,
    audios,
    personas: new BoundedMap<Persona>(mostRemembered),
    /** Notes that a task holds an upload of so many bytes; past 256 MiB in all, the oldest such tasks are forgotten. */
    noteUpload(task: MusicTask, bytes: number): void {
      uploads.push({ task, bytes });
      uploadBytes += bytes;
      while (uploadBytes > mostUploadBytes) {
        const oldest = uploads.shift();
        if (oldest === undefined) break;
        uploadBytes -= oldest.bytes;
        tasks.delete(oldest.task.id);
        for (const audio of oldest.task.audios) audios.delete(audio.id);
      }
    },
  };
}

/** A map of things with ids that forgets the oldest when it is full. */
export class BoundedMap<Value extends { readonly id: string }> extends Map<string, Value> {
  readonly #most: number;
  constructor(most: number) {
    super();
    this.#most = most;
  }
  add(value: Value): Value {
    this.set(value.id, value);
    const [oldest] = this.keys();
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest);
    return value;
  }
}
