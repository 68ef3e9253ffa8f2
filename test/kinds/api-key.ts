import type { ManagedKindTestData } from './kind-test-data.ts'
import { declaredOwner, ownedByBot, ownerPlaces, ownerRefusal, ownerSample } from './shared/credentials.ts'
import { notEmpty, story } from './shared/edits.ts'
import { bare, shownWorded, worded } from './shared/objects.ts'
import { outputPlaces, rotationPlaces, tokenEdits, tokenRefusals } from './shared/outputs.ts'
import { managedRefusals, refuse } from './shared/refusals.ts'
import { textEdits, textRefusals, withTexts } from './shared/texts.ts'

export const apiKey: ManagedKindTestData = {
  kind: 'APIKey',
  accepted: { owner: { botUserRef: { name: 'pipeline' } } },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...tokenRefusals,
    ownerRefusal,
    refuse(
      'with an owner by name and by id',
      { owner: { botUserRef: { name: 'a' }, id: 'b' } },
      'set exactly one of botUserRef, id',
    ),
  ],
  specs: {
    minimal: { spec: () => ({}), object: ({ ownUser }) => ({ ...bare, token: null, owner_id: ownUser }) },
    full: {
      spec: (name) => ({
        ...worded(name),
        ...ownedByBot.owner(name),
        output: {
          secret: {
            name: `${name}-secret`,
            key: 'api-key',
            labels: { team: 'shop' },
            annotations: { 'reflector.example.com/reflects': 'true' },
          },
        },
      }),
      needs: ownedByBot.needs,
      object: ({ id, name }) => ({ ...shownWorded(name), token: null, owner_id: id('BotUser', `${name}-bot`) }),
    },
  },
  edits: [story('apikey', notEmpty, [...textEdits, ...tokenEdits])],
  collections: { api_keys: withTexts({ samples: { owner_id: ownerSample } }) },
  places: { ...ownerPlaces, ...outputPlaces('secret'), ...rotationPlaces },
  declares: declaredOwner,
}
