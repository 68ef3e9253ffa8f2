import { list, ownKeys, parsed, sorted } from '../builders/declared/forms.ts'
import type { Body, Edit, ManagedKindTestData } from './kind-test-data.ts'
import { quiet, story } from './shared/edits.ts'
import { acknowledgedEdits, range } from './shared/ip-policies.ts'
import { bare, mark, markBeside, need, shownWorded, worded } from './shared/objects.ts'
import { grantRefusals, managedRefusals, refuse } from './shared/refusals.ts'
import { LONG, textEdits, textRefusals, texts } from './shared/texts.ts'

const office = { cidr: '198.51.100.0/24', action: 'Allow', description: 'the office' }
const everybody = ['0.0.0.0/0', '::/0'].map((cidr) => ({ cidr, action: 'Allow' }))

/** A rule as the API shows it. */
const held = (cidr: string, action: string, description = '', metadata: unknown = mark): Body => ({
  cidr,
  action,
  description,
  metadata,
})

/** An edit of `rules`, and the rules that there are then. */
const ruled = (rules: readonly Body[], shown: readonly Body[], more: Body = {}): Edit => ({
  spec: { rules, ...more },
  sends: [],
  rules: shown,
})

const refuseRule = (because: string, change: Body, message: string) =>
  refuse(because, { rules: [{ cidr: '10.0.0.0/8', action: 'Allow', ...change }] }, message)

export const ipPolicy: ManagedKindTestData = {
  kind: 'IPPolicy',
  accepted: { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    refuse(
      'without rules',
      { rules: [] },
      'rules is empty: add a rule, set rulesSource: IPPolicyRules, or set allowEmpty: true',
    ),
    refuse(
      'with rules from two places',
      { rulesSource: 'IPPolicyRules' },
      'rules is allowed only with rulesSource: Inline: remove rules',
    ),
    refuseRule(
      'with what is no address',
      { cidr: '10.0.0' },
      'cidr must be an address, such as 192.0.2.1, or a range in CIDR notation',
    ),
    refuseRule('with host bits', { cidr: '10.0.0.1/8' }, 'cidr has host bits set: write'),
    refuseRule('with upper case', { cidr: '2001:DB8::/32' }, 'cidr is not in canonical form: write'),
    refuseRule('with zeros spelt out', { cidr: '2001:db8:0::/32' }, 'cidr is not in canonical form'),
    refuseRule('with a long rule description', { description: LONG }, 'description must have at most'),
    refuseRule(
      'with long rule metadata',
      { metadata: { a: `${'a'.repeat(158)}ä` } },
      'metadata must have at most 160 bytes in total',
    ),
  ],
  specs: {
    minimal: {
      spec: (name) => need.policy(name).spec,
      object: () => bare,
      rules: [held('198.51.100.0/24', 'allow', 'the office')],
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        rules: [
          office,
          { cidr: '198.51.100.77/32', action: 'Deny', metadata: { ticket: '7' } },
          { cidr: '2001:db8:40::/48', action: 'Allow' },
        ],
        allowEmpty: true,
      }),
      object: ({ name }) => shownWorded(name),
      rules: [
        held('198.51.100.0/24', 'allow', 'the office'),
        held('198.51.100.77/32', 'deny', '', markBeside('"ticket":"7"')),
        held('2001:db8:40::/48', 'allow'),
      ],
    },
    'with rules from elsewhere': { spec: (name) => need.openPolicy(name).spec, object: () => bare },
  },
  edits: [
    story('policy', { rules: [{ cidr: range, action: 'Allow' }] }, [
      ...textEdits,
      ruled([{ cidr: range, action: 'Allow', description: 'one' }], [held(range, 'allow', 'one')]),
      ruled(
        [{ cidr: range, action: 'Allow', description: 'two', metadata: { a: '1' } }],
        [held(range, 'allow', 'two', markBeside('"a":"1"'))],
      ),
      ruled([{ cidr: range, action: 'Allow', metadata: { b: '' } }], [held(range, 'allow', '', markBeside('"b":""'))]),
      ruled([{ cidr: range, action: 'Deny' }], [held(range, 'deny')]),
      ruled(
        [
          { cidr: range, action: 'Deny' },
          { cidr: '2001:db8::/32', action: 'Allow' },
        ],
        [held(range, 'deny'), held('2001:db8::/32', 'allow')],
      ),
      ruled([{ cidr: '10.0.0.0/8', action: 'Allow' }], [held('10.0.0.0/8', 'allow')]),
      ...quiet({ rulesSource: 'Inline' }, { allowEmpty: false }, { allowEmpty: true }),
      { spec: { rules: undefined }, sends: [], rules: [] },
      ...quiet({ rulesSource: 'IPPolicyRules', allowEmpty: undefined }),
      ruled([{ cidr: range, action: 'Deny' }], [held(range, 'deny')], { rulesSource: undefined }),
      ...acknowledgedEdits,
    ]),
  ],
  collections: { ip_policies: texts },
  places: {},
  declares: (spec, { children }) => {
    if (spec.rulesSource === 'IPPolicyRules') return []
    const own = new Map((list(spec.rules) as readonly Body[]).map(({ cidr, metadata }) => [cidr, metadata]))
    const wanted = (list(spec.rules) as readonly Body[]).map((rule) => {
      const leftAlone = children.find(({ cidr, metadata }) => cidr === rule.cidr && !isMarked(metadata))
      return ruleForm({ description: leftAlone?.description, ...rule }, rule.metadata ?? {})
    })
    const found = children.map((rule) => ruleForm(rule, ownKeys(rule.metadata, own.get(rule.cidr))))
    return [['rules', sorted(wanted), sorted(found)]]
  },
  referents: [
    ...['office', 'home'].map((name) => ({
      collection: 'ip_policies',
      object: { id: `ipp_${name}` },
      resource: { name, spec: { rules: everybody } },
    })),
    {
      collection: 'ip_policies',
      object: { id: 'ipp_open' },
      resource: { name: 'open', spec: { rulesSource: 'IPPolicyRules' } },
    },
    ...['ipp_lab', 'ipp_other'].map((id) => ({ collection: 'ip_policies', object: { id } })),
  ],
}

function ruleForm({ cidr, action, description }: Body, metadata: unknown): Body {
  return { cidr, action: String(action).toLowerCase(), description: description ?? '', metadata }
}

/** An object without a marker was adopted: what the spec does not mention is its own. */
function isMarked(metadata: unknown): boolean {
  return parsed(metadata).culvert !== undefined
}
