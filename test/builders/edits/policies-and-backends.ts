import { refTo } from '../expected.ts'
import { another, type Body, type Edit, type EditStory, mark, markBeside, patch, quiet, story, texts } from './edit.ts'

const share = (name: string, weight: number) => ({ name, weight })

const range = '198.51.100.0/24'
const held = (cidr: string, action: string, description = '', metadata: unknown = mark): Body => ({
  cidr,
  action,
  description,
  metadata,
})

const acknowledged = quiet(
  { acknowledgeAPIRestriction: true },
  { acknowledgeAPIRestriction: false },
  { acknowledgeAPIRestriction: undefined },
)

/** Edits of policies, their rules, restrictions and backends. */
export const policyAndBackendStories: readonly EditStory[] = [
  story('IPPolicy', 'policy', { rules: [{ cidr: range, action: 'Allow' }] }, [
    ...texts,
    ...(
      [
        [[{ cidr: range, action: 'Allow', description: 'one' }], [held(range, 'allow', 'one')]],
        [
          [{ cidr: range, action: 'Allow', description: 'two', metadata: { a: '1' } }],
          [held(range, 'allow', 'two', markBeside('"a":"1"'))],
        ],
        [[{ cidr: range, action: 'Allow', metadata: { b: '' } }], [held(range, 'allow', '', markBeside('"b":""'))]],
        [[{ cidr: range, action: 'Deny' }], [held(range, 'deny')]],
        [
          [
            { cidr: range, action: 'Deny' },
            { cidr: '2001:db8::/32', action: 'Allow' },
          ],
          [held(range, 'deny'), held('2001:db8::/32', 'allow')],
        ],
        [[{ cidr: '10.0.0.0/8', action: 'Allow' }], [held('10.0.0.0/8', 'allow')]],
      ] as const
    ).map(([rules, shown]): Edit => ({ spec: { rules }, sends: [], rules: shown })),
    ...quiet({ rulesSource: 'Inline' }, { allowEmpty: false }, { allowEmpty: true }),
    { spec: { rules: undefined }, sends: [], rules: [] },
    ...quiet({ rulesSource: 'IPPolicyRules', allowEmpty: undefined }),
    {
      spec: { rulesSource: undefined, rules: [{ cidr: range, action: 'Deny' }] },
      sends: [],
      rules: [held(range, 'deny')],
    },
    ...acknowledged,
  ]),
  story('IPPolicyRule', 'rule', { ipPolicyRef: { name: 'open' }, cidr: range, action: 'Allow' }, [
    ...texts,
    patch('cidr', { cidr: '2001:db8:7::/48' }, { cidr: '2001:db8:7::/48' }),
    another({ action: 'Deny' }, { action: 'deny' }),
    ...acknowledged,
  ]),
  story('IPRestriction', 'restriction', { type: 'Endpoints', ipPolicyRefs: [{ name: 'office' }] }, [
    ...texts,
    patch('enforced', { enforcement: 'Enforce' }, { enforced: true }),
    patch('enforced', { enforcement: 'Warn' }, { enforced: false }),
    ...quiet({ enforcement: undefined }),
    patch('ip_policy_ids', { ipPolicyRefs: [{ name: 'home' }] }, (id) => ({
      ip_policies: [refTo(id('IPPolicy', 'home'))],
    })),
    ...acknowledged,
  ]),
  story('Backend', 'group', { type: 'TunnelGroup', tunnelGroup: {} }, [
    ...texts,
    patch('labels', { tunnelGroup: { labels: { app: 'shop' } } }, { labels: { app: 'shop' } }),
    patch('labels', { tunnelGroup: { labels: { App: 'shop', tier: 'a' } } }, { labels: { App: 'shop', tier: 'a' } }),
    patch('labels', { tunnelGroup: {} }, { labels: {} }),
  ]),
  story('Backend', 'answer', { type: 'HTTPResponse', httpResponse: {} }, [
    ...texts,
    patch('body', { httpResponse: { body: 'closed' } }, { body: 'closed' }),
    patch('body', { httpResponse: { body: 'open' } }, { body: 'open' }),
    patch('body', { httpResponse: {} }, { body: '' }),
    patch('headers', { httpResponse: { headers: { 'X-A': '1' } } }, { headers: { 'x-a': '1' } }),
    patch('headers', { httpResponse: { headers: { 'X-A': '2', b: '3' } } }, { headers: { 'x-a': '2', b: '3' } }),
    patch('headers', { httpResponse: {} }, { headers: {} }),
    patch('status_code', { httpResponse: { statusCode: 503 } }, { status_code: 503 }),
    patch('status_code', { httpResponse: { statusCode: 404 } }, { status_code: 404 }),
    patch('status_code', { httpResponse: {} }, { status_code: 200 }),
  ]),
  story('Backend', 'shares', { type: 'Weighted', weighted: { backendRefs: [share('blue', 1)] } }, [
    ...texts,
    patch('backends', { weighted: { backendRefs: [share('blue', 7)] } }, (id) => ({
      backends: { [id('Backend', 'blue')]: 7 },
    })),
    patch('backends', { weighted: { backendRefs: [share('green', 0), share('blue', 7)] } }, (id) => ({
      backends: { [id('Backend', 'blue')]: 7, [id('Backend', 'green')]: 0 },
    })),
    patch('backends', { weighted: { backendRefs: [share('green', 1)] } }, (id) => ({
      backends: { [id('Backend', 'green')]: 1 },
    })),
    patch(
      'backends',
      { weighted: { backendRefs: [{ id: 'bkdtg_specs1', weight: 1 }] } },
      { backends: { bkdtg_specs1: 1 } },
    ),
  ]),
  story('Backend', 'order', { type: 'Failover', failover: { backendRefs: [{ name: 'blue' }] } }, [
    ...texts,
    ...[['blue', 'green'], ['green', 'blue'], ['green']].map((names) =>
      patch('backends', { failover: { backendRefs: names.map((name) => ({ name })) } }, (id) => ({
        backends: names.map((name) => id('Backend', name)),
      })),
    ),
  ]),
]
