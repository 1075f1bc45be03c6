/**
 * House rules `deno lint` does not have. Each message says what to do instead.
 *
 * The plugin has no scope analysis: it looks at names. A parameter that stands
 * for an effect is therefore reached through its object (`options.fetch(…)`).
 */

/** Folders whose job is to touch the outside world. Everything else asks them for it. */
const EFFECT_OWNERS: readonly RegExp[] = [
  /\/cmd\/[^/]+\.ts$/,
  /\/lib\/sys\//,
  /\/lib\/netlink\/(libc|libmnl|named_netns|netns|poll|sysctl)\.ts$/,
  /\/(tools|tests|bench|types)\//,
  /_test\.ts$/,
  /\/testing\.ts$/,
];

/** Global → the port that owns it. */
const EFFECT_GLOBALS: Readonly<Record<string, string>> = {
  Deno: "lib/sys (files, processes, clock) or a parameter",
  console: "the Log that is passed in (lib/sys/log.ts)",
  fetch: "a fetch-like parameter with the real one as default in lib/sys",
  setInterval: "Clock.sleep (lib/sys/clock.ts)",
  setTimeout: "Clock.sleep (lib/sys/clock.ts)",
};

/** Object.member → the port that owns it. */
const EFFECT_MEMBERS: Readonly<Record<string, string>> = {
  "Date.now": "Clock.now (lib/sys/clock.ts)",
  "Math.random": "a random source that is passed in",
  "performance.now": "Clock.monotonicMs (lib/sys/clock.ts)",
};

/** Node modules that are effects by another name. */
const EFFECT_MODULES = /^node:(fs|child_process|net|dgram|http|https|process|os|dns)(\/|$)/;

function ownsEffects(filename: string): boolean {
  const path = filename.replaceAll("\\", "/");
  return EFFECT_OWNERS.some((owner) => owner.test(path));
}

const effectBoundary: Deno.lint.Rule = {
  create(context) {
    if (ownsEffects(context.filename)) return {};
    const report = (node: Deno.lint.Node, what: string, owner: string) =>
      context.report({ node, message: `${what} is an ambient effect`, hint: `Use ${owner}` });
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier") return;
        const object = node.object.name;
        if (object === "globalThis" && node.property.type === "Identifier") {
          const owner = EFFECT_GLOBALS[node.property.name];
          if (owner !== undefined) report(node, `globalThis.${node.property.name}`, owner);
          return;
        }
        const global = EFFECT_GLOBALS[object];
        if (global !== undefined) return report(node, object, global);
        if (node.property.type !== "Identifier") return;
        const name = `${object}.${node.property.name}`;
        const member = EFFECT_MEMBERS[name];
        if (member !== undefined) report(node, name, member);
      },
      CallExpression(node) {
        if (node.callee.type !== "Identifier") return;
        const owner = EFFECT_GLOBALS[node.callee.name];
        if (owner !== undefined) report(node, `${node.callee.name}()`, owner);
      },
      NewExpression(node) {
        if (node.callee.type !== "Identifier" || node.callee.name !== "Date") return;
        if (node.arguments.length === 0) {
          report(node, "new Date()", "Clock.now (lib/sys/clock.ts)");
        }
      },
      ImportDeclaration(node) {
        if (EFFECT_MODULES.test(node.source.value)) {
          report(node, `Import of ${node.source.value}`, "lib/sys");
        }
      },
    };
  },
};

/** The bundler renames classes; an error whose name is not spelled out prints as `t`. */
const errorName: Deno.lint.Rule = {
  create(context) {
    return {
      ClassDeclaration(node) {
        const parent = node.superClass;
        if (parent?.type !== "Identifier" || !/Error$/.test(parent.name) || node.id === null) {
          return;
        }
        const name = node.id.name;
        const spelled = node.body.body.some((member) =>
          member.type === "PropertyDefinition" && member.key.type === "Identifier" &&
          member.key.name === "name" && member.value?.type === "Literal" &&
          member.value.value === name
        );
        if (!spelled) {
          context.report({
            node: node.id,
            message: `Error class ${name} does not spell out its name`,
            hint: `Add: override readonly name = "${name}";`,
          });
        }
      },
    };
  },
};

/** A default export has no name to search for. Configuration files of tools are the exception. */
const noDefaultExport: Deno.lint.Rule = {
  create(context) {
    if (context.filename.endsWith("lint_plugin.ts")) return {};
    return {
      ExportDefaultDeclaration(node) {
        context.report({ node, message: "Default export", hint: "Export it by name" });
      },
    };
  },
};

/** House error prose: "Cannot do X: state", capital first letter, no final period. */
const errorProse: Deno.lint.Rule = {
  create(context) {
    if (/_test\.ts$/.test(context.filename)) return {};
    return {
      NewExpression(node) {
        if (node.callee.type !== "Identifier") return;
        if (!/^(Error|TypeError|RangeError|SyntaxError)$/.test(node.callee.name)) return;
        const first = node.arguments[0];
        if (first?.type !== "Literal" || typeof first.value !== "string") return;
        if (!/^[A-Z]/.test(first.value) || first.value.endsWith(".")) {
          context.report({
            node: first,
            message: "Error message starts with a capital letter and has no final period",
            hint: "Write it as: Cannot do X: current state",
          });
        }
      },
    };
  },
};

const plugin: Deno.lint.Plugin = {
  name: "headcni",
  rules: {
    "effect-boundary": effectBoundary,
    "error-name": errorName,
    "error-prose": errorProse,
    "no-default-export": noDefaultExport,
  },
};

export default plugin;
