scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840)
exec 2>&1
# The whole page but its words.
page() {
    spillway report $1.db -o $1.html
    echo "== $1"
    text $1.html | sed '/^Words/,$d; /^$/d; /^All that is known/,/^\(The step\|How far to trust\)/{/^|/{/^|column|/b;/^|step_us|/b;d}}'
}
# The answer, and how far it differs.
head_of() {
    spillway report $1.db -o $1.html
    echo "== $1"
    text $1.html | sed '/^$/d' | sed -n '1,/^Figures/p; /^|.*alone/p; /^How far answers/,/^|retro/p'
}
# The text that a reader sees who has no script: without tags, entities as characters.
text() {
    sed -n '/<header>/,$p' "$1" | sed '/<section id="explore"/,/id="data"/d; /^<script/,/^<.script>/d' | sed '/<svg/,/<\/svg>/d; s/<t[dh][^>]*>/|/g; s/<[^>]*>//g' |
        sed "s/&lt;/</g; s/&gt;/>/g; s/&quot;/\"/g; s/&#39;/'/g; s/&nbsp;/ /g; s/&amp;/\&/g" |
        sed '/^{/s/, .*/, .../; s/0\.[0-9]*\.[0-9]*/VERSION/; s/[0-9a-f]\{16\}/HASH/'
}
