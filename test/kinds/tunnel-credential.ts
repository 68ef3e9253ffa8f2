import type { ManagedKindTestData } from './kind-test-data.ts'
import {
  aclDrifts,
  aclEdits,
  aclPlaces,
  aclRefusals,
  declaredACL,
  declaredOwner,
  ownedByBot,
  ownerPlaces,
  ownerRefusal,
  ownerSample,
} from './shared/credentials.ts'
import { notEmpty, story } from './shared/edits.ts'
import { bare, shownWorded, worded } from './shared/objects.ts'
import { outputPlaces, rotationPlaces, tokenEdits, tokenRefusals } from './shared/outputs.ts'
import { managedRefusals, refuse } from './shared/refusals.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const acl = ['bind:*.tunnel.example', 'bind:1.tcp.tunnel.example:20000', 'bind:app=*']

export const tunnelCredential: ManagedKindTestData = {
  kind: 'TunnelCredential',
  accepted: { owner: { botUserRef: { name: 'pipeline' } }, acl: ['bind:*.example.com', 'bind:app=*'] },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...tokenRefusals,
    ...aclRefusals,
    ownerRefusal,
    refuse(
      'with an owner of both sorts',
      { owner: { botUserRef: { name: 'a' }, id: 'b' } },
      'set exactly one of botUserRef, id',
    ),
  ],
  specs: {
    minimal: { spec: () => ({}), object: ({ ownUser }) => ({ ...bare, token: null, acl: [], owner_id: ownUser }) },
    full: {
      spec: (name) => ({
        ...worded(name),
        acl,
        ...ownedByBot.owner(name),
        output: { secret: { name: `${name}-secret`, key: 'authtoken' } },
      }),
      needs: ownedByBot.needs,
      object: ({ id, name }) => ({ ...shownWorded(name), token: null, acl, owner_id: id('BotUser', `${name}-bot`) }),
    },
  },
  edits: [story('tunnelcredential', notEmpty, [...textEdits, ...aclEdits, ...tokenEdits])],
  collections: {
    credentials: withTexts({
      samples: {
        acl: pick(['bind:*.tunnel.example', 'bind:1.tcp.tunnel.example:20000', 'bind:*=web'], ['*']),
        owner_id: ownerSample,
      },
      drifts: aclDrifts,
    }),
  },
  places: { ...aclPlaces, ...ownerPlaces, ...outputPlaces('secret'), ...rotationPlaces },
  declares: (spec, held, resolved) => [...declaredOwner(spec, held, resolved), declaredACL(spec, held)],
}
