import { z } from 'zod';
import { DISCORD } from './limits.ts';
import { requireValid } from './refusal.ts';

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const LOCALES = new Set(
  'id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko'.split(
    ' ',
  ),
);

const lowerCase = (name: string) => name === name.toLowerCase();
const optionName = z.string().regex(NAME).refine(lowerCase, 'must be lower case');
const description = z.string().min(1).max(DISCORD.commandDescription);
const localized = <Schema extends z.ZodString>(schema: Schema) =>
  z
    .record(
      z.string().refine((locale) => LOCALES.has(locale), 'unknown locale'),
      schema,
    )
    .nullish();

const choice = z.object({
  name: z.string().min(1).max(DISCORD.choiceText),
  name_localizations: localized(z.string().min(1).max(DISCORD.choiceText)),
  value: z.union([z.string().max(DISCORD.choiceText), z.number()]),
});

export interface CommandOption {
  type: number;
  name: string;
  name_localizations?: Record<string, string> | null | undefined;
  description: string;
  description_localizations?: Record<string, string> | null | undefined;
  required?: boolean | undefined;
  choices?: z.infer<typeof choice>[] | undefined;
  options?: CommandOption[] | undefined;
  min_value?: number | undefined;
  max_value?: number | undefined;
  min_length?: number | undefined;
  max_length?: number | undefined;
  autocomplete?: boolean | undefined;
}

const option: z.ZodType<CommandOption> = z.lazy(() =>
  z
    .object({
      type: z.int().min(1).max(11),
      name: optionName,
      name_localizations: localized(z.string().regex(NAME)),
      description,
      description_localizations: localized(description),
      required: z.boolean().optional(),
      choices: z.array(choice).max(DISCORD.choices).optional(),
      options: options.optional(),
      channel_types: z.array(z.int()).optional(),
      min_value: z.number().optional(),
      max_value: z.number().optional(),
      min_length: z.int().min(0).max(6_000).optional(),
      max_length: z.int().min(1).max(6_000).optional(),
      autocomplete: z.boolean().optional(),
    })
    .refine((o) => !(o.autocomplete && o.choices?.length), 'autocomplete and choices exclude each other')
    .refine((o) => !o.autocomplete || [3, 4, 10].includes(o.type), 'only text and numbers have autocomplete')
    .refine(
      (o) => (o.min_length === undefined && o.max_length === undefined) || o.type === 3,
      'length is for text',
    )
    .refine(
      (o) => (o.min_value === undefined && o.max_value === undefined) || o.type === 4 || o.type === 10,
      'min and max are for numbers',
    )
    .refine((o) => !(o.type <= 2 && o.required !== undefined), 'a subcommand cannot be required')
    .refine((o) => o.options === undefined || o.type <= 2, 'only subcommands have options')
    .refine(
      (o) => new Set(o.choices?.map((c) => c.name)).size === (o.choices?.length ?? 0),
      'choice names must be unique',
    ),
);
const options = z
  .array(option)
  .max(DISCORD.commandOptions)
  .refine((all) => new Set(all.map((o) => o.name)).size === all.length, 'option names must be unique')
  .refine(
    (all) => !all.some((o, i) => o.required && all.slice(0, i).some((before) => !before.required)),
    'required options come first',
  )
  .refine(
    (all) => all.every((o) => o.type <= 2) || all.every((o) => o.type > 2),
    'subcommands do not mix with options',
  );

const common = {
  default_member_permissions: z.string().regex(/^\d+$/).nullish(),
  nsfw: z.boolean().optional(),
  integration_types: z.array(z.int().min(0).max(1)).min(1).optional(),
  contexts: z.array(z.int().min(0).max(2)).min(1).nullish(),
};
const chatInput = z.object({
  type: z
    .literal(1)
    .optional()
    .transform(() => 1 as const),
  name: optionName,
  name_localizations: localized(z.string().regex(NAME)),
  description,
  description_localizations: localized(description),
  options: options.optional(),
  ...common,
});
const contextMenu = z.object({
  type: z.union([z.literal(2), z.literal(3)]),
  name: z.string().trim().min(1).max(32),
  name_localizations: localized(z.string().min(1).max(32)),
  description: z.literal('').optional(),
  description_localizations: z.null().optional(),
  options: z.array(z.never()).max(0).optional(),
  ...common,
});
const command = z.union([chatInput, contextMenu]);

export type RegisteredCommand = z.infer<typeof command> & {
  id: string;
  application_id: string;
  version: string;
};
type Declared = z.infer<typeof command>;

/** Returns the characters counted towards 8000: names, descriptions and values, each in its longest localisation. */
function characters(item: Declared | CommandOption): number {
  const longest = (text: string, all: Record<string, string> | null | undefined) =>
    Math.max(text.length, ...Object.values(all ?? {}).map((value) => value.length));
  return (
    longest(item.name, item.name_localizations) +
    longest(item.description ?? '', item.description_localizations) +
    ('choices' in item ? (item.choices ?? []) : []).reduce(
      (sum, c) => sum + longest(c.name, c.name_localizations) + String(c.value).length,
      0,
    ) +
    ((item.options ?? []) as CommandOption[]).reduce((sum, o) => sum + characters(o), 0)
  );
}

/** Checks a bulk overwrite. @throws Refusal 50035 */
export function checkCommands(value: unknown): Declared[] {
  const parsed = z.array(command).safeParse(value);
  requireValid(parsed.success, `commands: ${parsed.error?.message}`);
  const counts = [1, 2, 3].map((type) => parsed.data.filter((c) => c.type === type));
  requireValid((counts[0]?.length ?? 0) <= DISCORD.commands, 'commands: too many chat input commands');
  for (const menus of counts.slice(1))
    requireValid(menus.length <= DISCORD.contextMenuCommands, 'commands: too many context-menu commands');
  for (const group of counts)
    requireValid(new Set(group.map((c) => c.name)).size === group.length, 'commands: names must be unique');
  for (const one of parsed.data) {
    requireValid(
      characters(one) <= DISCORD.commandCharacters,
      `commands: ${one.name} has ${characters(one)} characters`,
    );
    // Discord also refuses localised names that collide within the same command.
    const names = (one.options ?? []) as CommandOption[];
    for (const locale of LOCALES) {
      const local = names.map((o) => o.name_localizations?.[locale] ?? o.name);
      requireValid(
        new Set(local).size === local.length,
        `commands: ${one.name} has colliding option names in ${locale}`,
      );
      for (const name of local) requireValid(lowerCase(name), `commands: ${name} must be lower case`);
    }
  }
  return parsed.data;
}

/** Returns a registered command as Discord does: with defaults, without empty fields. */
export function registeredJson(registered: RegisteredCommand, withLocalizations: boolean): object {
  const strip = (o: CommandOption): object => {
    const { name_localizations, description_localizations, options: nested, required, ...rest } = o;
    return {
      ...rest,
      ...(required ? { required } : {}),
      ...(withLocalizations
        ? {
            name_localizations: name_localizations ?? null,
            description_localizations: description_localizations ?? null,
          }
        : {}),
      ...(nested?.length ? { options: nested.map(strip) } : {}),
    };
  };
  const { name_localizations, description_localizations, options: all, ...rest } = registered;
  return {
    ...rest,
    description: rest.description ?? '',
    default_member_permissions: rest.default_member_permissions ?? null,
    nsfw: rest.nsfw ?? false,
    integration_types: rest.integration_types ?? [0],
    contexts: rest.contexts ?? null,
    dm_permission: true,
    default_permission: true,
    guild_id: undefined,
    ...(withLocalizations
      ? {
          name_localizations: name_localizations ?? null,
          description_localizations: description_localizations ?? null,
        }
      : {}),
    ...(all?.length ? { options: (all as CommandOption[]).map(strip) } : {}),
  };
}
