/**
 * What the listener sends, for the type checker alone.
 *
 * @typedef {{ type: string, value?: string, children?: MarkdownNode[], url?: string, depth?: number, start?: number,
 *   checked?: boolean, language?: string }} MarkdownNode
 * @typedef {{ kind: 'audio' | 'image' | 'video' | 'file', name: string, alt?: string, caption?: string, cover?: boolean,
 *   url?: string, bytes?: number }} Media
 * @typedef {{ label: string, spoken: string, id?: string, url?: string, emphasis?: 'primary' }} Button
 * @typedef {{ stage: string, startedAt: number, queuePosition?: number, estimateMs?: number, until?: number }} Progress
 * @typedef {{ id: string, channel: string, at: number, author?: string, to?: string, replyTo?: string, line?: string,
 *   attached?: string[], title?: string, mention?: string, body: MarkdownNode[], fields?: { name: string, value: string }[],
 *   media?: Media[], buttons?: Button[], more?: Button[], progress?: Progress, footer?: string }} Message
 * @typedef {{ type: 'text' | 'choice' | 'flag' | 'number' | 'file', description: string, required?: boolean,
 *   maximumLength?: number, multiline?: boolean, mention?: boolean, autocomplete?: true,
 *   choices?: { name: string, value: string }[], integer?: boolean, minimum?: number, maximum?: number,
 *   accept?: string[], maximumBytes?: number }} Option
 * @typedef {Record<string, Option>} Options
 * @typedef {{ name: string, description: string, options: Options,
 *   subcommands: { name: string, description: string, options: Options }[], moderatorsOnly?: boolean,
 *   messageMenu?: { label: string, option: string } }} Command
 * @typedef {{ id: string, displayName: string, moderator: boolean }} Person
 * @typedef {{ id: string, name: string, topic: string, direct?: string }} Channel
 * @typedef {{ id: string, title: string, submitLabel: string, options: Options, initial: Record<string, unknown> }} Form
 * @typedef {{ value: string, description?: string }} Candidate
 *
 * @typedef {{ type: 'all', person: string, people: Person[], channels: Channel[], commands: Command[], messages: Message[] }
 *   | { type: 'message', message: Message } | { type: 'removed', ids: string[] }} ChatEvent
 * @typedef {{ type: 'done' } | { type: 'form', form: Form, name: string } | { type: 'refused', sentence: string }
 *   | { type: 'wrong', option: string, sentence: MarkdownNode[] }
 *   | { type: 'candidates', typed: string, candidates: Candidate[] }
 *   | { type: 'choices', choices: { name: string, value: string }[] }} Answer
 */
export {};
