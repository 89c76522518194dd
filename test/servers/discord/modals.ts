import { z } from 'zod';
import { DISCORD } from './limits.ts';
import { requireValid } from './refusal.ts';

const customId = z.string().min(1).max(DISCORD.customId);
const id = z.int().optional();
const textInput = z
  .object({
    type: z.literal(4),
    id,
    custom_id: customId,
    style: z.union([z.literal(1), z.literal(2)]),
    label: z.string().min(1).max(DISCORD.labelText).optional(),
    min_length: z.int().min(0).max(DISCORD.textInput).optional(),
    max_length: z.int().min(1).max(DISCORD.textInput).optional(),
    required: z.boolean().optional(),
    value: z.string().max(DISCORD.textInput).optional(),
    placeholder: z.string().max(DISCORD.textInputPlaceholder).optional(),
  })
  .refine((t) => (t.min_length ?? 0) <= (t.max_length ?? DISCORD.textInput), 'min_length over max_length')
  .refine((t) => (t.value?.length ?? 0) <= (t.max_length ?? DISCORD.textInput), 'value over max_length')
  .refine(
    (t) => t.value === undefined || t.value === '' || t.value.length >= (t.min_length ?? 0),
    'value under min_length',
  );
const choices = z
  .array(
    z.object({
      label: z.string().min(1).max(100),
      value: z.string().min(1).max(100),
      description: z.string().max(100).optional(),
      default: z.boolean().optional(),
    }),
  )
  .min(1)
  .refine((all) => new Set(all.map((o) => o.value)).size === all.length, 'option values must be unique');
const stringSelect = z.object({
  type: z.literal(3),
  id,
  custom_id: customId,
  options: choices.max(DISCORD.selectOptions),
  placeholder: z.string().max(DISCORD.selectPlaceholder).optional(),
  min_values: z.int().min(0).max(25).optional(),
  max_values: z.int().min(1).max(25).optional(),
  required: z.boolean().optional(),
});
const fileUpload = z.object({
  type: z.literal(19),
  id,
  custom_id: customId,
  min_values: z.int().min(0).max(10).optional(),
  max_values: z.int().min(1).max(10).optional(),
  required: z.boolean().optional(),
});
const radioGroup = z.object({
  type: z.literal(21),
  id,
  custom_id: customId,
  options: choices.min(2).max(10),
  required: z.boolean().optional(),
});
const checkboxGroup = z.object({
  type: z.literal(22),
  id,
  custom_id: customId,
  options: choices.max(10),
  min_values: z.int().min(0).max(10).optional(),
  max_values: z.int().min(1).max(10).optional(),
  required: z.boolean().optional(),
});
const checkbox = z.object({ type: z.literal(23), id, custom_id: customId, default: z.boolean().optional() });

const field = z.union([textInput, stringSelect, fileUpload, radioGroup, checkboxGroup, checkbox]);
export type ModalField = z.infer<typeof field>;

const label = z.object({
  type: z.literal(18),
  id,
  label: z.string().min(1).max(DISCORD.labelText),
  description: z.string().min(1).max(DISCORD.labelDescription).optional(),
  component: field,
});
const text = z.object({ type: z.literal(10), id, content: z.string().min(1).max(4_000) });
const modal = z.object({
  custom_id: customId,
  title: z.string().min(1).max(DISCORD.modalTitle),
  components: z
    .array(z.union([label, text]))
    .min(1)
    .max(DISCORD.modalComponents),
});
export type Modal = z.infer<typeof modal>;

/** @throws Refusal 50035 */
export function checkModal(value: unknown): Modal {
  const parsed = modal.safeParse(value);
  requireValid(parsed.success, `modal: ${parsed.error?.message}`);
  const ids = modalFields(parsed.data).map((f) => f.custom_id);
  requireValid(new Set(ids).size === ids.length, 'modal: custom_id must be unique');
  for (const one of modalFields(parsed.data)) {
    if (one.type === 4)
      requireValid(one.label === undefined, 'modal: a text input inside a label must not have a label');
  }
  return parsed.data;
}

export const modalFields = (one: Modal): ModalField[] =>
  one.components.flatMap((c) => (c.type === 18 ? [c.component] : []));
