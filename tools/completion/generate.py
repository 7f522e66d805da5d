"""Makes the completion files for bash, zsh and fish of the options that programs tell (tools/cli/option_table.h).

Usage: generate.py FOLDER PROGRAM...
FOLDER gets bash/<program>, zsh/_kojak (one for all), fish/<program>.fish.
"""
import pathlib
import re
import subprocess
import sys

FOLDERS = {"DIR"}
FILES = {"FILE", "PAGE", "REPORT", "TRACE", "ARCHIVE"}


class Option:
    def __init__(self, name, short, value, text):
        self.name, self.short, self.text = name, short, text
        self.optional = value.startswith("?")
        self.value = value.lstrip("?")
        self.words = self.value.split("|") if "|" in self.value else []

    def names(self):
        return [self.name] + ([self.short] if self.short else [])

    def needs_value(self):
        return self.value != "" and not self.optional


class Command:
    def __init__(self, name, arguments, purpose):
        self.name, self.options, self.subcommands = name, [], []
        self.takes_files = arguments not in ("[options]", "COMMAND [options] ...")
        self.runs_command = "COMMAND [ARGUMENTS...]" in arguments
        self.purpose = re.split(r"[.:,](?: |$)", purpose)[0]


def ask(program, *words):
    """What a program tells of itself: the command and its subcommands."""
    done = subprocess.run([program, *words, "--option-table"], text=True, capture_output=True, check=True)
    command, below = None, []
    for line in done.stdout.splitlines():
        kind, *fields = line.split("\t")
        if kind == "command":
            command = Command(*fields)
        elif kind == "subcommand":
            below.append(fields[0])
        else:
            command.options.append(Option(*fields))
    command.subcommands = [(name, ask(program, name)) for name in below]
    return command


def bash_words(words):
    return "'" + " ".join(words).replace("'", "'\\''") + "'"


def bash_of_command(command, indent):
    """Statements that fill COMPREPLY; cur and prev are set."""
    lines = ['case "$prev" in']
    for option in command.options:
        if not option.needs_value():
            continue
        if option.words:
            action = f"COMPREPLY=($(compgen -W {bash_words(option.words)} -- \"$cur\"))"
        elif option.value in FOLDERS:
            action = 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur")'
        elif option.value in FILES:
            action = 'compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")'
        else:
            action = "COMPREPLY=()"
        lines.append(f"  {'|'.join(option.names())}) {action}; return ;;")
    lines.append("esac")
    every = [name for option in command.options for name in option.names()]
    lines += ['if [[ $cur == -* ]]; then', f"  COMPREPLY=($(compgen -W {bash_words(every)} -- \"$cur\"))", "  return", "fi"]
    if command.takes_files:
        lines += ["compopt -o filenames", 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")']
    return "".join(" " * indent + line + "\n" for line in lines)


def bash(command):
    function = "_kojak_" + command.name
    text = f"""# Completion of {command.name} for bash, made when kojak was built.
{function}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  # bash makes three words of --option=value.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
"""
    if command.subcommands:
        names = [name for name, _ in command.subcommands]
        top = names + [n for option in command.options for n in option.names()]
        text += f"""  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W {bash_words(top)} -- "$cur"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
"""
        for name, below in command.subcommands:
            text += f"    {name})\n"
            if below.runs_command:
                takers = "|".join(n for option in below.options if option.needs_value() for n in option.names())
                text += f"""      # From the first word on that is no option, another program's.
      local at=2
      while [[ $at -lt $COMP_CWORD ]]; do
        case ${{COMP_WORDS[at]}} in
          --) at=$((at + 1)); break ;;
          {takers}) at=$((at + 1)); [[ ${{COMP_WORDS[at]}} == = ]] && at=$((at + 1)) ;;
          -*|=) [[ ${{COMP_WORDS[at+1]}} == = ]] && at=$((at + 2)) ;;
          *) break ;;
        esac
        at=$((at + 1))
      done
      if [[ $at -lt $COMP_CWORD ]]; then
        if declare -F _command_offset >/dev/null; then
          _command_offset $at
        else
          compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
      elif [[ $at -eq $COMP_CWORD && ( $cur != -* || $prev == -- ) ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        return
      fi
"""
            text += bash_of_command(below, 6) + "      ;;\n"
        text += "  esac\n"
    else:
        text += bash_of_command(command, 2)
    return text + f"}}\ncomplete -F {function} {command.name}\n"


def zsh_text(text):
    return text.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_options(command, indent):
    lines = []
    for option in command.options:
        text = f"[{zsh_text(option.text)}]"
        if option.words:
            action = f":{option.name.lstrip('-')}:({' '.join(option.words)})"
        elif option.value in FOLDERS:
            action = f":{option.value}:_files -/"
        elif option.value in FILES:
            action = f":{option.value}:_files"
        elif option.value:
            action = f":{option.value}: "
        else:
            action = ""
        if option.optional:
            lines.append(f"'{option.name}=-{text}:{action}'")
        elif option.short:
            both = f"'({option.name} {option.short})'{{{option.short}{'+' if option.value else ''}," \
                   f"{option.name}{'=' if option.value else ''}}}'"
            lines.append(f"{both}{text}{action}'")
        else:
            lines.append(f"'{option.name}{'=' if option.value else ''}{text}{action}'")
    if command.runs_command:
        lines += ["'(-)1:program:_command_names -e'", "'*::arguments:_normal'"]
    elif command.takes_files:
        lines.append("'*:file:_files'")
    return "_arguments -S" + "".join(" \\\n" + " " * (indent + 2) + line for line in lines) + "\n"


def zsh(commands):
    text = f"""#compdef {' '.join(command.name for command in commands)}
# Completion of kojak's programs for zsh, made when kojak was built.
case $service in
"""
    for command in commands:
        text += f"  {command.name})\n"
        if not command.subcommands:
            text += "    " + zsh_options(command, 4) + "    ;;\n"
            continue
        text += "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n      local -a commands=("
        for name, below in command.subcommands:
            text += f"\n        '{name}:{zsh_text(below.purpose)}'"
        text += "\n      )\n      _describe command commands\n      return\n    fi\n"
        text += "    local command=$words[2]\n    (( CURRENT == 2 )) || { shift words; (( CURRENT-- )) }\n    case $command in\n"
        for name, below in command.subcommands:
            text += f"      {name})\n        " + zsh_options(below, 8) + "        ;;\n"
        text += "      *)\n        " + zsh_options(command, 8) + "        ;;\n    esac\n    ;;\n"
    return text + "esac\n"


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_options(program, command, condition):
    start = f"complete -c {program}" + (f" -n {fish_text(condition)}" if condition else "")
    text = ""
    for option in command.options:
        line = f"{start} -l {option.name[2:]}"
        if option.short:
            line += f" -s {option.short[1:]}"
        if option.words:
            line += f" -x -a '{' '.join(option.words)}'"
        elif option.needs_value():
            line += " -r -F" if option.value in FILES else \
                " -x -a '(__fish_complete_directories)'" if option.value in FOLDERS else " -x"
        text += f"{line} -d {fish_text(option.text)}\n"
    if command.runs_command:
        text += f"{start} -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n"
    elif not command.takes_files:
        text += f"{start} -f\n"
    return text


def fish(command):
    text = f"# Completion of {command.name} for fish, made when kojak was built.\n"
    if not command.subcommands:
        return text + fish_options(command.name, command, "")
    for name, below in command.subcommands:
        text += f"complete -c {command.name} -n __fish_use_subcommand -f -a {name} -d {fish_text(below.purpose)}\n"
    text += fish_options(command.name, command, "__fish_use_subcommand")
    for name, below in command.subcommands:
        text += fish_options(command.name, below, f"__fish_seen_subcommand_from {name}")
    return text


def main():
    folder = pathlib.Path(sys.argv[1])
    commands = [ask(program) for program in sys.argv[2:]]
    for shell in ("bash", "zsh", "fish"):
        (folder / shell).mkdir(parents=True, exist_ok=True)
    for command in commands:
        (folder / "bash" / command.name).write_text(bash(command))
        (folder / "fish" / f"{command.name}.fish").write_text(fish(command))
    (folder / "zsh/_kojak").write_text(zsh(commands))


if __name__ == "__main__":
    main()
