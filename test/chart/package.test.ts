import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { KUBERNETES_VERSION } from '../../controlplane/build.ts'
import { runProgram } from '../../controlplane/run-program.ts'
import { HELMS, helm, MODES, merged, NAMESPACE, RELEASE, type Values } from './support/helm.ts'
import { CHART, ROOT } from './support/paths.ts'

it('passes Helm’s strict lint with its defaults and for watched namespaces', async () => {
  for (const major of HELMS) {
    for (const values of [
      {},
      { watchNamespaces: ['shop'], serviceMonitor: { enabled: true }, emulator: { enabled: true } },
    ]) {
      const { code, stdout } = await helm(
        major,
        ['lint', '--strict', '--kube-version', KUBERNETES_VERSION, CHART],
        values,
      )
      expect(stdout).toContain('0 chart(s) failed')
      expect(code).toBe(0)
    }
  }
})

it('contains what it needs and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-chart-'))
  try {
    for (const major of HELMS) {
      const target = join(folder, String(major))
      const packed = await helm(major, ['package', CHART, '--destination', target])
      expect(packed).toMatchObject({ code: 0 })
      const [archive = ''] = await readdir(target)
      expect(archive).toBe(`culvert-${(await chart()).version}.tgz`)
      const listed = await runProgram('tar', ['-tzf', join(target, archive)])
      const files = listed.stdout
        .trim()
        .split('\n')
        .map((path) => path.replace(/^culvert\//, ''))
      const crds = (await readdir(join(ROOT, 'crds'))).map((file) => `files/crds/${file}`)
      expect(files).toEqual(expect.arrayContaining(['Chart.yaml', 'README.md', 'values.yaml', 'values.schema.json']))
      expect(files).toEqual(
        expect.arrayContaining(['templates/NOTES.txt', 'files/alerts.yaml', 'dashboards/culvert.json', ...crds]),
      )
      expect(files.filter((path) => !KNOWN.test(path))).toEqual([])
      const rendered = await helm(
        major,
        ['template', RELEASE, join(target, archive), '--kube-version', KUBERNETES_VERSION],
        {},
      )
      expect(rendered.stdout.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(crds.length)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

const KNOWN =
  /^(Chart\.yaml|README\.md|\.helmignore|values\.yaml|values\.schema\.json|files\/((admission|crds|rbac)\/[\w.-]+|alerts)\.yaml|templates\/([\w-]+\/)?[\w-]+\.(yaml|tpl|txt)|dashboards\/[\w-]+\.json)$/

it('has the program’s version', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  expect(await chart()).toMatchObject({ version, appVersion: version })
})

const notes: readonly (readonly [when: string, values: Values, says: readonly string[]])[] = [
  [
    'as it comes',
    {},
    [
      'operator.allowApiHosts={api.example.com}',
      'kubectl -n default create secret',
      'helm -n culvert-system test culvert',
      'may also approve its plans',
    ],
  ],
  ['with an allowed host', { operator: { allowApiHosts: ['api.example.net'] } }, ['baseURL: https://api.example.net']],
  [
    'in watched namespaces',
    { watchNamespaces: ['shop'] },
    ['It watches: shop.', 'kubectl -n shop create secret', 'delete culvert --all -n <namespace>'],
  ],
  [
    'without the admission policy',
    { watchNamespaces: ['shop'], admissionPolicy: { operator: { enabled: false } } },
    [
      'THE OPERATOR RUNS WITHOUT THE ADMISSION POLICY',
      'helm -n culvert-system get values culvert -o yaml',
      '--show-only templates/admission/operator.yaml',
    ],
  ],
  [
    'with the emulator',
    { emulator: { enabled: true } },
    ['baseURL: http://culvert-emulator.culvert-system.svc:4040', 'get secret culvert-emulator'],
  ],
]

// Helm 3 shows them only with a cluster; its lint above verifies that it can render them.
it.each(notes)('says what to do next, %s', async (_when, values, says) => {
  const flags = ['--namespace', NAMESPACE, '--dry-run=client']
  const { stdout, stderr } = await helm(4, ['install', RELEASE, CHART, ...flags], merged(MODES.cluster, values))
  expect(stderr).not.toContain('Error')
  const text = stdout.slice(stdout.indexOf('NOTES:'))
  for (const words of says) expect(text).toContain(words)
  expect(text).not.toMatch(/<no value>|%!/)
})

async function chart(): Promise<{ readonly version: string; readonly appVersion: string }> {
  return parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { version: string; appVersion: string }
}
