import { attachmentsOf, type PersonFile } from './events.ts';
import { DISCORD } from './limits.ts';
import { type Modal, type ModalField, modalFields } from './modals.ts';
import type { Channel } from './types.ts';
import type { World } from './world.ts';

interface Setting {
  readonly world: World;
  readonly channel: Channel;
}

/** Builds the data of a submitted form. Throws if the person could not have submitted it. */
export function modalData(
  modal: Modal,
  values: Record<string, unknown>,
  setting: Setting,
): { components: object[]; resolved: Record<string, object> } {
  const fields = modalFields(modal);
  for (const key of Object.keys(values))
    if (!fields.some((f) => f.custom_id === key)) throw new Error(`The form has no field ${key}`);
  const resolved: Record<string, object> = {};
  const components = modal.components.map((component, index) => {
    if (component.type !== 18) return { type: 10, id: index + 1 };
    const field = component.component;
    return {
      type: 18,
      id: index + 1,
      component: {
        id: 100 + index,
        custom_id: field.custom_id,
        type: field.type,
        ...fieldValue(field, values[field.custom_id], setting, resolved),
      },
    };
  });
  return { components, resolved };
}

function fieldValue(
  field: ModalField,
  value: unknown,
  setting: Setting,
  resolved: Record<string, object>,
): object {
  const invalid = (why: string) =>
    new Error(`Field ${field.custom_id}: ${why}: Discord would not send the form`);
  const isRequired = !('required' in field) || field.required !== false;
  switch (field.type) {
    case 4: {
      const text = value === undefined ? (field.value ?? '') : value;
      if (typeof text !== 'string') throw invalid('not text');
      if (isRequired && text === '') throw invalid('required');
      if (text.length > (field.max_length ?? DISCORD.textInput)) throw invalid('too long');
      if (text !== '' && text.length < (field.min_length ?? 0)) throw invalid('too short');
      return { value: text };
    }
    case 19: {
      const files = (value ?? []) as PersonFile[];
      if (isRequired && files.length === 0) throw invalid('required');
      const attachments = attachmentsOf(setting.world, setting.channel, files);
      for (const attachment of attachments)
        resolved[attachment.id] = setting.world.attachmentJson(attachment);
      return { values: attachments.map((a) => a.id) };
    }
    case 23:
      return { value: value ?? field.default ?? false };
    default: {
      const defaults = field.options.filter((o) => o.default).map((o) => o.value);
      const choices =
        value === undefined ? defaults : Array.isArray(value) ? value.map(String) : [String(value)];
      if (isRequired && choices.length === 0) throw invalid('required');
      for (const one of choices)
        if (!field.options.some((o) => o.value === one)) throw invalid(`${one} is not a choice`);
      return field.type === 21 ? { value: choices[0] ?? null } : { values: choices };
    }
  }
}
