import type { InquiryPart } from './work.ts';

type Attachment = { readonly type: 'image' } | { readonly type: 'document'; readonly name: string };

/** What stands for an attachment that a model is not shown, so that later turns still make sense. */
export function attachmentNote(attachment: Attachment): InquiryPart {
  return {
    type: 'text',
    text: attachment.type === 'image' ? '(a picture)' : `(the file ${attachment.name})`,
  };
}
