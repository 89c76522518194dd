import { z } from 'zod';
import { DISCORD } from './limits.ts';
import { requireValid } from './refusal.ts';

const customId = z.string().min(1).max(DISCORD.customId);
const emoji = z.object({
  id: z.string().nullish(),
  name: z.string().nullish(),
  animated: z.boolean().optional(),
});
const media = z.object({ url: z.string().regex(/^(https?|attachment):\/\/\S+$/) });
const id = z.int().optional();

const button = z
  .object({
    type: z.literal(2),
    id,
    style: z.int().min(1).max(6),
    label: z.string().max(DISCORD.buttonLabel).optional(),
    emoji: emoji.optional(),
    custom_id: customId.optional(),
    url: z
      .string()
      .max(DISCORD.url)
      .regex(/^(https?|discord):\/\/\S+$/)
      .optional(),
    sku_id: z.string().optional(),
    disabled: z.boolean().optional(),
  })
  .refine(
    (b) => (b.style === 5) === (b.url !== undefined),
    'a link button requires a url, other buttons must not have one',
  )
  .refine((b) => b.style >= 5 || b.custom_id !== undefined, 'a button needs a custom_id')
  .refine((b) => b.style !== 5 || b.custom_id === undefined, 'a link button has no custom_id')
  .refine(
    (b) => (b.label ?? '').trim() !== '' || b.emoji !== undefined,
    'a button needs a label or an emoji',
  );

const select = z.object({
  type: z.literal(3),
  id,
  custom_id: customId,
  options: z
    .array(
      z.object({
        label: z.string().min(1).max(DISCORD.selectOptionText),
        value: z.string().min(1).max(DISCORD.selectOptionText),
        description: z.string().max(DISCORD.selectOptionText).optional(),
        emoji: emoji.optional(),
        default: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(DISCORD.selectOptions)
    .refine(
      (options) => new Set(options.map((o) => o.value)).size === options.length,
      'option values must be unique',
    ),
  placeholder: z.string().max(DISCORD.selectPlaceholder).optional(),
  min_values: z.int().min(0).max(25).optional(),
  max_values: z.int().min(1).max(25).optional(),
  required: z.boolean().optional(),
  disabled: z.boolean().optional(),
});

const row = z
  .object({
    type: z.literal(1),
    id,
    components: z
      .array(z.union([button, select]))
      .min(1)
      .max(DISCORD.buttonsInRow),
  })
  .refine(
    (r) => r.components.length === 1 || r.components.every((c) => c.type === 2),
    'a select fills its row',
  );

const textDisplay = z.object({ type: z.literal(10), id, content: z.string().min(1).max(DISCORD.v2Text) });
const thumbnail = z.object({
  type: z.literal(11),
  id,
  media,
  description: z.string().max(DISCORD.galleryDescription).nullish(),
  spoiler: z.boolean().optional(),
});
const section = z.object({
  type: z.literal(9),
  id,
  components: z.array(textDisplay).min(1).max(DISCORD.sectionTexts),
  accessory: z.union([button, thumbnail]),
});
const gallery = z.object({
  type: z.literal(12),
  id,
  items: z
    .array(
      z.object({
        media,
        description: z.string().min(1).max(DISCORD.galleryDescription).nullish(),
        spoiler: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(DISCORD.galleryItems),
});
const file = z.object({
  type: z.literal(13),
  id,
  file: z.object({ url: z.string().startsWith('attachment://') }),
  spoiler: z.boolean().optional(),
});
const separator = z.object({
  type: z.literal(14),
  id,
  divider: z.boolean().optional(),
  spacing: z.union([z.literal(1), z.literal(2)]).optional(),
});
const contained = z.union([row, section, textDisplay, gallery, file, separator]);
const container = z.object({
  type: z.literal(17),
  id,
  components: z.array(contained).min(1),
  accent_color: z.int().min(0).max(0xffffff).nullish(),
  spoiler: z.boolean().optional(),
});
const v2 = z.union([contained, container]);

export type Component = z.infer<typeof v2>;
export type Button = z.infer<typeof button>;
type Select = z.infer<typeof select>;
type Leaf = Component | z.infer<typeof contained> | Button | Select | z.infer<typeof thumbnail>;

/** Yields every component of a message, including nested ones. */
export function* everyComponent(components: readonly Leaf[]): Generator<Leaf> {
  for (const component of components) {
    yield component;
    if (component.type === 1 || component.type === 17) yield* everyComponent(component.components);
    if (component.type === 9) yield* everyComponent([...component.components, component.accessory]);
  }
}

/** Returns the message's files named by components, without `attachment://`. */
export function namedAttachments(components: readonly Component[]): string[] {
  const urls: string[] = [];
  for (const component of everyComponent(components)) {
    if (component.type === 11) urls.push(component.media.url);
    if (component.type === 12) urls.push(...component.items.map((item) => item.media.url));
    if (component.type === 13) urls.push(component.file.url);
  }
  return urls
    .filter((url) => url.startsWith('attachment://'))
    .map((url) => url.slice('attachment://'.length));
}

export const textDisplays = (components: readonly Component[]): string[] =>
  [...everyComponent(components)].flatMap((component) => (component.type === 10 ? [component.content] : []));

/**
 * Checks a message's `components` as Discord does, classic rows or Components V2.
 * @throws Refusal 50035
 */
export function checkComponents(value: unknown, isV2: boolean): Component[] {
  const schema = isV2 ? z.array(v2) : z.array(row).max(DISCORD.rows);
  const parsed = schema.safeParse(value);
  requireValid(parsed.success, `components: ${parsed.error?.message}`);
  const all = [...everyComponent(parsed.data)];
  const ids = all.flatMap((c) =>
    (c.type === 2 || c.type === 3) && c.custom_id !== undefined ? [c.custom_id] : [],
  );
  requireValid(new Set(ids).size === ids.length, 'components: custom_id must be unique in a message');
  if (isV2) {
    requireValid(all.length <= DISCORD.v2Components, `components: ${all.length} of ${DISCORD.v2Components}`);
    const text = textDisplays(parsed.data).reduce((sum, content) => sum + content.length, 0);
    requireValid(text <= DISCORD.v2Text, `components: ${text} characters of text`);
  }
  return parsed.data;
}
