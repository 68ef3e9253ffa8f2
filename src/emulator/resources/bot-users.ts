import { mandatory, optional } from '../fields/field.ts'
import { FLAG, TEXT } from '../fields/json-schema.ts'
import { boolean, nonEmptyString } from '../fields/readers.ts'
import { textOf } from '../json.ts'
import type { Resource } from './resource.ts'

/** Bot users own credentials; the API keys of an inactive one are refused. They have no description or metadata. */
export const botUsers: Resource = {
  path: 'bot_users',
  listKey: 'bot_users',
  idPrefix: 'bot',
  eventName: 'bot_user',
  served: true,
  fields: { name: mandatory(nonEmptyString), active: optional(boolean, true) },
  defaults: (choices) => ({ active: choices['bot-active-default'] === 'on' }),
  claims: (bot, choices) =>
    choices['unique-names'] === 'bots' ? [{ scope: 'bot', value: textOf(bot, 'name'), field: 'name' }] : [],
  shows: { name: TEXT, active: FLAG },
  render: (bot) => ({ name: textOf(bot, 'name'), active: bot.active ?? true }),
}
