import { cp, mkdtempDisposable, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { KUBERNETES_VERSION } from '../../controlplane/build.ts'
import { HELMS, helm, RELEASE, type Rendered, render, renderText, template, type Values } from './support/helm.ts'
import { CHART, ROOT } from './support/paths.ts'

const files = await readdir(join(ROOT, 'crds'))
const crds = await Promise.all(
  files.map(async (file) => parse(await readFile(join(ROOT, 'crds', file), 'utf8')) as Rendered),
)

it('installs every CRD unchanged, kept on uninstall', async () => {
  for (const major of HELMS) {
    const rendered = crdsIn(await render(major, {}))
    expect(rendered.map(({ spec }) => spec)).toEqual(crds.map(({ spec }) => spec))
    expect(rendered.map(({ metadata: { name } }) => name)).toEqual(crds.map(({ metadata: { name } }) => name))
    for (const { metadata } of rendered) {
      expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'Helm' })
    }
  }
})

it('deletes the CRDs on uninstall if asked, and gives them its labels and annotations', async () => {
  for (const major of HELMS) {
    const plain = crdsIn(await render(major, { crds: { keep: false } }))
    expect(plain).toHaveLength(crds.length)
    for (const { metadata } of plain) expect(metadata.annotations).toBeUndefined()
    const marked = crdsIn(await render(major, { commonLabels: { team: 'edge' }, commonAnnotations: { owner: 'edge' } }))
    for (const { metadata } of marked) {
      expect(metadata.labels).toMatchObject({ team: 'edge' })
      expect(metadata.annotations).toEqual({ owner: 'edge', 'helm.sh/resource-policy': 'keep' })
    }
  }
})

it('leaves the CRDs to others if asked', async () => {
  for (const major of HELMS) expect(crdsIn(await render(major, { crds: { install: false } }))).toEqual([])
})

it('fails if it has no CRDs to install', async () => {
  await using copy = await mkdtempDisposable(join(tmpdir(), 'culvert-chart-'))
  const isCRD = (path: string): boolean => path.startsWith(join(CHART, 'files', 'crds') + sep)
  await cp(CHART, copy.path, { recursive: true, filter: (path) => !isCRD(path) })
  const install = (major: (typeof HELMS)[number], values: Values) =>
    helm(major, ['template', RELEASE, copy.path, '--kube-version', KUBERNETES_VERSION], values)
  for (const major of HELMS) {
    const { code, stderr } = await install(major, {})
    expect(code).not.toBe(0)
    expect(stderr).toContain('crds.install: ')
    expect(await install(major, { crds: { install: false } })).toMatchObject({ code: 0 })
  }
})

it('installs the CRDs for watched namespaces as well', async () => {
  expect(crdsIn(await render(4, { watchNamespaces: ['shop'] }))).toHaveLength(crds.length)
})

// A Secret's limit is a megabyte; Helm stores chart and objects in one, compressed to about a seventh and then in
// base64.
it('fits with its CRDs into Helm’s release Secret', async () => {
  const text = await renderText(4, {})
  expect(text.length).toBeLessThan(2_000_000)
})

/** The first version of Kubernetes whose CEL environment has each function. */
const SINCE: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'has size matches contains startsWith filter exists exists_one all map string int bytes duration getSeconds timestamp'
      .split(' ')
      .map((name) => [name, 25]),
  ),
  lowerAscii: 25,
  upperAscii: 25,
  sum: 25,
  isURL: 25,
  url: 25,
  isCIDR: 30,
  isIP: 30,
  ip: 30,
  cidr: 30,
  masked: 30,
  prefixLength: 30,
}

it('requires the first Kubernetes version whose API server accepts the rules, and no later one', async () => {
  const used = new Set(crds.flatMap((crd) => rulesIn(crd).flatMap(functionsIn)))
  expect([...used].filter((name) => SINCE[name] === undefined)).toEqual([])
  // An API server accepts in a CRD only what its predecessor understands too, so that it can be rolled back.
  const first = Math.max(...[...used].map((name) => SINCE[name] ?? 0)) + 1
  const { kubeVersion } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { readonly kubeVersion: string }
  expect(kubeVersion).toBe(`>=1.${first}.0-0`)
  for (const major of HELMS) {
    const { code, stderr } = await template(major, {}, ['--kube-version', `1.${first - 1}.9`])
    expect(code).not.toBe(0)
    expect(stderr).toContain(kubeVersion)
    expect((await template(major, {}, ['--kube-version', `1.${first}.0-eks-1234`])).code).toBe(0)
  }
})

function crdsIn(objects: readonly Rendered[]): readonly Rendered[] {
  return objects.filter(({ kind }) => kind === 'CustomResourceDefinition')
}

/** Every expression of a CRD's rules, including message expressions. */
function rulesIn(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  const { rule, messageExpression } = node as { readonly rule?: unknown; readonly messageExpression?: unknown }
  const own = [rule, messageExpression].filter((text) => typeof text === 'string')
  return [...own, ...Object.values(node).flatMap(rulesIn)]
}

function functionsIn(rule: string): readonly string[] {
  const withoutTexts = rule.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''")
  return [...withoutTexts.matchAll(/([A-Za-z_]\w*)\(/g)].map(([, name = '']) => name)
}
