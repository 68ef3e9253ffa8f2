import type { ManagedKindTestData } from './kind-test-data.ts'
import { patch, quiet, story } from './shared/edits.ts'
import { named, need } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse } from './shared/refusals.ts'
import { BY_HAND, pick } from './shared/texts.ts'

export const botUser: ManagedKindTestData = {
  kind: 'BotUser',
  accepted: { displayName: 'pipeline' },
  refusals: [
    ...managedRefusals,
    ...grantRefusals,
    refuse('with a name like the mark', { displayName: '{"culvert":1}' }, 'displayName begins with {"culvert":'),
  ],
  specs: {
    minimal: {
      spec: (name) => need.bot(name).spec,
      object: ({ name }) => ({ ...named, name: `bot of ${name}`, active: true }),
    },
    full: {
      spec: (name) => ({ ...need.bot(name).spec, active: false }),
      object: ({ name }) => ({ ...named, name: `bot of ${name}`, active: false }),
    },
  },
  edits: [
    story('bot', { displayName: 'bot' }, [
      patch('name', { displayName: 'other bot' }, { name: 'other bot' }),
      patch('active', { active: false }, { active: false }),
      patch('active', { active: true }, { active: true }),
      ...quiet({ active: undefined }),
    ]),
  ],
  collections: {
    bot_users: {
      samples: { name: pick('first bot', 'second bot, ünïcode'), active: pick(false, true) },
      drifts: { name: [() => ({ name: BY_HAND })], active: [({ active }) => ({ active: !active })] },
      stranger: (number) => ({ name: `stranger ${number}` }),
    },
  },
  places: {},
  declares: ({ displayName, active = true }, { object }) => [
    ['name', displayName, object.name],
    ['active', active, object.active],
  ],
  referents: [
    {
      collection: 'bot_users',
      object: { id: 'bot_build', name: 'build' },
      resource: { name: 'build', spec: { displayName: 'build' } },
    },
    { collection: 'bot_users', object: { id: 'bot_deploy', name: 'deploy' } },
  ],
}
