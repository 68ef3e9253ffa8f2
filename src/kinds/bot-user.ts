import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { bareSpec, bareSpecRules, commonStatus } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { sharing } from '../managed/descriptor/grant.ts'
import { keptText } from '../managed/descriptor/metadata.ts'
import { bool, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { managedColumns, textColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, namesOf, textOf } from './building-blocks/remote.ts'

const definition = defineKind({
  ...managedKind,
  kind: 'BotUser',
  plural: 'botusers',
  singular: 'botuser',
  shortNames: [],
  scope: 'Namespaced',
  description:
    'A user that is not a person and can own API keys and credentials. While it is inactive, its API keys are refused. The service has no description or metadata for it.',
  spec: object(
    {
      ...bareSpec,
      ...sharing,
      displayName: text({
        description: 'Name of the bot at the service, for people; at most 255 characters. It need not be unique.',
        minLength: 1,
        maxLength: 255,
        rules: [
          {
            rule: '!self.startsWith(\'{"culvert":\')',
            message:
              'displayName begins with {"culvert":, which Culvert uses while it creates a bot: choose another name',
          },
        ],
      }),
      active: Type.Optional(bool({ description: 'Whether the bot is active. Default: true.' })),
    },
    { description: 'Desired state of the bot.', rules: bareSpecRules },
  ),
  status: object(
    {
      ...commonStatus,
      active: Type.Optional(bool({ description: 'Whether the bot is active at the API.' })),
    },
    { description: 'Observed state of the bot.' },
  ),
  printerColumns: managedColumns(textColumn('Display name', '.spec.displayName', 'Name of the bot.'), {
    name: 'Active',
    type: 'boolean',
    jsonPath: '.status.active',
    description: 'Whether the bot is active.',
  }),
})

export type BotUserSpec = SpecOf<typeof definition>

/**
 * Bot users (`management-api.md § Access credentials`). They have no metadata, so a new one carries the marker as its
 * name and stays inactive until its id is stored.
 */
export const botUser: ManagedDescriptor<BotUserSpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition,
  identity: { ...inCollection(collections.botUsers), markedBy: 'name' },
  fields: {
    ...plainFields,
    setBy: ({ displayName, active }) => namesOf({ name: displayName, active }),
    desire: ({ spec: { displayName, active = true } }, remote) => ({
      name: keptText(displayName, textOf(remote?.name) ?? ''),
      active: remote !== undefined && active,
    }),
    observe: ({ name, active }) => ({ name, active: active !== false }),
  },
  status: {
    shown: ({ active }) => ({ active: active !== false }),
    readiness: ({ remote: { active } }) =>
      available(active !== false ? 'the bot is active' : 'the bot exists and is not active'),
  },
  manifest: {
    namedAfter: ({ name }) => [textOf(name)],
    specOf: ({ name, active }) => given({ displayName: textOf(name), active: active === false ? false : undefined }),
  },
  apiAccess: { type: 'owns-keys', silences: ({ active }) => active === false },
}
