import { Command, Option } from 'commander'
import { counted } from '../util/printable.ts'
import { askCluster, type Cluster, type ClusterFlags, clusterOptions } from './cluster/ask-cluster.ts'
import { type OperatorFlags, operatorOptions } from './cluster/operator-lease.ts'
import { checkAccounts } from './doctor/checks/accounts.ts'
import { checkApprovals } from './doctor/checks/approvals.ts'
import { checkCRDs } from './doctor/checks/crds.ts'
import { checkDNS } from './doctor/checks/dns.ts'
import { checkOperators } from './doctor/checks/operator.ts'
import { checkCertificates, checkConditions, checkResources } from './doctor/checks/resources.ts'
import { checkRights } from './doctor/checks/rights.ts'
import { checkTunnels } from './doctor/checks/tunnels.ts'
import { checkWebhooks } from './doctor/checks/webhooks.ts'
import { checkWrites } from './doctor/checks/writes.ts'
import {
  CHECKED,
  CHECKS,
  type Check,
  type FailOn,
  type Finding,
  isWell,
  type Severity,
  worstFirst,
} from './doctor/finding.ts'
import { readPatient } from './doctor/patient.ts'
import { collect, type OutputFlags, outputOption } from './flags.ts'
import { type Style, wrap } from './terminal/line.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Flags of `culvert doctor`. */
export interface DoctorFlags extends ClusterFlags, OutputFlags, OperatorFlags {
  readonly allNamespaces: boolean
  readonly dnsServer: readonly string[]
  /** Whether to print the checks that found nothing. */
  readonly all?: boolean
  /** Default: warning. */
  readonly failOn?: FailOn
}

/** `culvert doctor`: everything that is wrong, worst first. */
export function doctorCommand(): Command {
  const failOn = new Option('--fail-on <severity>', 'exit with 1 only for a problem of this severity or worse')
  return outputOption(operatorOptions(clusterOptions(new Command('doctor'))))
    .description(
      'Diagnose an installation and a namespace: operator, CRDs, accounts, resources, ' +
        'certificates, DNS, tunnels, approvals; each problem with its cause and the command that fixes it, worst first.',
    )
    .option('-A, --all-namespaces', 'check the resources of all namespaces', false)
    .option('--dns-server <address>', 'ask this DNS server (repeatable; default: those of this machine)', collect, [])
    .option('--all', 'also list what was checked and is fine')
    .addOption(failOn.choices(['error', 'warning']).default('warning'))
    .addHelpText(
      'after',
      '\nExamples:\n  culvert doctor --all\n  culvert doctor --all-namespaces --fail-on error --output json\n\n' +
        'Exit codes: 0 no problem of that severity was found, as far as could be checked; 1 otherwise.',
    )
    .action((flags: DoctorFlags) => askCluster(flags, (cluster) => runDoctor(cluster, flags)))
}

const DNS_MS = 3_000

/** @returns the exit code of the process */
export async function runDoctor(cluster: Cluster, flags: DoctorFlags): Promise<number> {
  const { namespace, out } = cluster
  const patient = await readPatient(cluster, flags.allNamespaces ? [] : [namespace], flags)
  const checked = await Promise.all([
    checkOperators(patient),
    checkCRDs(patient),
    checkRights(patient),
    checkWebhooks(patient),
    checkWrites(patient),
    checkAccounts(patient),
    checkResources(patient),
    checkConditions(patient),
    checkCertificates(patient),
    checkDNS(patient, { servers: flags.dnsServer, timeoutMs: DNS_MS }),
    checkTunnels(patient),
    checkApprovals(patient),
  ])
  const findings = worstFirst([...patient.unread, ...checked.flat()])
  const fine = CHECKS.filter((name) => findings.every(({ check }) => check !== name))
  if (flags.output === 'json') out.json({ findings, ...(flags.all === true ? { fine } : {}) })
  else {
    if (flags.all === true) for (const check of fine) printFine(check, out)
    print(findings, out)
  }
  return isWell(findings, flags.failOn) ? 0 : 1
}

function printFine(check: Check, { print: line }: Terminal): void {
  line([{ text: 'OK', style: 'green' }, ' ', CHECKED[check]])
}

const LABELS: Readonly<Record<Severity, { readonly text: string; readonly style: Style }>> = {
  error: { text: 'ERROR', style: 'red' },
  warning: { text: 'WARNING', style: 'yellow' },
  unchecked: { text: 'UNCHECKED', style: 'dim' },
}

const INDENT = '  '

function print(findings: readonly Finding[], { print: line, width }: Terminal): void {
  for (const { severity, object, cause, remedy, command } of findings) {
    const { text, style } = LABELS[severity]
    const [first = '', ...rest] = wrap(object, width - text.length - 1)
    line([{ text, style }, ' ', { text: first, style: 'bold' }])
    for (const each of rest) line([INDENT, { text: each, style: 'bold' }])
    const words = remedy === undefined ? `${cause}.` : `${cause}. ${remedy}`
    for (const each of wrap(words, width - INDENT.length)) line(`${INDENT}${each}`)
    if (command !== undefined) line(`${INDENT}$ ${command}`)
    line('')
  }
  line(summary(findings))
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length
  const unchecked = count('unchecked')
  const rest = unchecked === 0 ? '' : ` ${counted(unchecked, 'thing')} could not be checked.`
  if (isWell(findings)) return `No problem found.${rest}`
  return `${counted(count('error'), 'error')}, ${counted(count('warning'), 'warning')}.${rest}`
}
