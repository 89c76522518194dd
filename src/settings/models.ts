/** Which model a family uses here: the one named, else what the deployment chose. */
import type { Address, Choice, Family } from '../command.ts';
import { UserError } from '../errors.ts';
import type { Models } from '../gateway/models.ts';
import { MUSIC_MODELS } from '../gateway/music.ts';

/** Discord shows at most 25 completions. */
const MOST_SUGGESTIONS = 25;
const ROUTE = /^(chat|msg|gen):(.+)$/;

export type ModelDefaults = { readonly [Name in Family]?: string | undefined };

export interface ModelSettings {
  /** Throws UserError when the name is not one this account may use, or when nobody has chosen yet. */
  resolve(family: Family, named: string | undefined, where: Address): Promise<string>;
  suggest(family: Family, typed: string): Promise<readonly Choice[]>;
}

interface ModelSettingsOptions {
  readonly defaults: ModelDefaults;
  /** The gateway's list: the authority on which ids this account may use. */
  readonly models: Pick<Models, 'list' | 'cached' | 'resolve'>;
}

const WORDS = { song: 'songs', ask: 'answers', image: 'pictures', video: 'videos' } as const satisfies Record<
  Family,
  string
>;

export function createModelSettings({ defaults, models }: ModelSettingsOptions): ModelSettings {
  return {
    async resolve(family, named) {
      const chosen = named ?? defaults[family];
      if (chosen === undefined) throw new UserError(await nobodyChose(family, models), 'model');
      return family === 'song' ? songModel(chosen) : listedModel(chosen, models);
    },

    async suggest(family, typed) {
      const wanted = typed.trim().toLowerCase();
      const choices =
        family === 'song'
          ? MUSIC_MODELS.map(choiceOf)
          : models.cached().map(({ id, displayName }) => ({
              name:
                displayName && displayName !== id ? `${displayName} (${id})`.slice(0, 100) : id.slice(0, 100),
              value: id,
            }));
      return choices
        .filter(({ name, value }) => value.length <= 100 && `${name} ${value}`.toLowerCase().includes(wanted))
        .slice(0, MOST_SUGGESTIONS);
    },
  };
}

function choiceOf(id: string): Choice {
  return { name: id, value: id };
}

function songModel(name: string): string {
  const model = MUSIC_MODELS.find((known) => known.toLowerCase() === name.trim().toLowerCase());
  if (model) return model;
  throw new UserError(
    `There is no song model “${name}”. The song models are ${MUSIC_MODELS.join(', ')}.`,
    'model',
  );
}

/** Keeps a route in front of the id, as in `msg:some-id`. Without a list nothing is refused: the gateway decides. */
async function listedModel(name: string, models: ModelSettingsOptions['models']): Promise<string> {
  const [, route, id] = ROUTE.exec(name.trim()) ?? [];
  const bare = id ?? name.trim();
  const found = models.resolve(bare);
  switch (found.kind) {
    case 'id':
    case 'label':
      return route ? `${route}:${found.id}` : found.id;
    case 'unlisted':
      return name.trim();
    case 'unknown': {
      const near = found.nearest.length > 0 ? ` Did you mean ${list(found.nearest)}?` : '';
      throw new UserError(`This account has no model “${bare}”.${near}`, 'model');
    }
    default:
      return found satisfies never;
  }
}

async function nobodyChose(family: Family, models: ModelSettingsOptions['models']): Promise<string> {
  const ids = await models.list().then(
    (all) => all.map(({ id }) => id),
    () => [],
  );
  const some = ids.length > 0 ? ` These are available: ${ids.slice(0, 20).join(', ')}.` : '';
  return `Nobody has chosen a model for ${WORDS[family]} yet. Name one with the option “model”.${some}`;
}

function list(names: readonly string[]): string {
  return names.map((name) => `“${name}”`).join(' or ');
}
