import { BoundedMap } from '../core/util/bounded-map.ts';
import type { SongRecipe } from './studio/synthesizer/recipe.ts';

export type MusicTaskKind = 'songs' | 'lyrics' | 'cover' | 'stems' | 'wav' | 'video';

/** One generated song; its audio is rendered from the recipe whenever a route needs it. */
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
  /** The seed for choosing a singer, equal for every song with this persona. */
  readonly voice: string;
}

export const mostRemembered = 5000;
/** Each may hold 30 MiB. */
const mostUploads = 8;

export type Store = ReturnType<typeof createStore>;

/** Music tasks and songs, in memory. The oldest tasks are dropped past a bound. */
export function createStore() {
  const audios = new Collection<Audio>(mostRemembered * 2);
  const tasks = new Collection<MusicTask>(mostRemembered);
  const uploads: MusicTask[] = [];
  return {
    tasks,
    audios,
    personas: new Collection<Persona>(mostRemembered),
    /** Notes that a task holds an upload; past eight of them the oldest is forgotten. */
    noteUpload(task: MusicTask): void {
      uploads.push(task);
      const oldest = uploads.length > mostUploads ? uploads.shift() : undefined;
      if (oldest === undefined) return;
      tasks.delete(oldest.id);
      for (const audio of oldest.audios) audios.delete(audio.id);
    },
  };
}

/** The latest things with ids. */
export class Collection<Value extends { readonly id: string }> extends BoundedMap<string, Value> {
  add(value: Value): Value {
    this.set(value.id, value);
    return value;
  }
}
