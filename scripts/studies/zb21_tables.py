"""What ZB21 published: the README of its code, and Tables 1 to 4."""

from __future__ import annotations

SETS = ("TAC08", "TAC09", "REALSumm", "PyrXSum")
FOLDERS = {
    "TAC08": "tac08",
    "TAC09": "tac09",
    "REALSumm": "realsumm",
    "PyrXSum": "pyrxsum",
}
ZERO_SHOT = "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
HALF_MIX = "STUs_SCUs_percentage50.txt"

#: Metrics of REALSumm's published score table; ZB21 reports recall where a metric has it.
METRICS = {
    "ROUGE-1": "rouge_1_recall",
    "ROUGE-2": "rouge_2_recall",
    "ROUGE-L": "rouge_l_recall",
    "BertScore": "bert_recall_score",
    "MoverScore": "mover_score",
}

# Columns: system level r, rho for each set in the order of SETS, then summary level
# likewise.
TABLE_1 = """
ROUGE-1|.87 .87 .91 .86 .82 .83 .92 .90 .62 .61 .69 .63 .53 .50 .52 .50
ROUGE-2|.90 .90 .92 .90 .84 .82 .93 .91 .63 .62 .71 .64 .46 .43 .53 .51
ROUGE-L|.87 .86 .93 .87 .83 .81 .94 .92 .57 .55 .66 .59 .46 .42 .52 .51
AutoSummENG|.90 .89 .91 .89 .53 .51 .92 .91 .65 .64 .71 .64 .34 .34 .56 .53
METEOR|.90 .89 .93 .88 .84 .84 .94 .89 .65 .64 .73 .68 .54 .49 .58 .56
BEwT-E|.92 .91 .95 .92 .83 .84 .93 .86 .66 .65 .75 .68 .47 .45 .54 .52
S3 pyr|.90 .89 .95 .89 .86 .85 .94 .89 .66 .65 .75 .68 .54 .50 .57 .54
S3 resp|.91 .91 .94 .90 .86 .86 .94 .90 .67 .65 .74 .68 .52 .48 .57 .54
PyrEval qual|.83 .81 .88 .80 - - - - .40 .39 .49 .44 - - - -
PyrEval comp|.83 .80 .90 .79 - - - - .41 .40 .53 .45 - - - -
BertScore|.88 .87 .90 .90 .73 .77 .92 .89 .61 .60 .70 .65 .48 .46 .57 .54
BertScore (idf)|.89 .88 .91 .90 .73 .78 .93 .90 .62 .61 .71 .66 .48 .46 .58 .55
MoverScore|.91 .89 .95 .90 .40 .31 .92 .91 .64 .63 .73 .68 .39 .36 .57 .54
QAEval EM|.83 .81 .85 .83 .61 .51 .86 .85 .48 .48 .64 .55 .28 .27 .29 .27
QAEval F1|.89 .87 .90 .87 .72 .65 .90 .83 .61 .60 .70 .63 .38 .35 .46 .42
Lite3|.93 .91 .97 .93 .89 .87 .89 .86 .71 .69 .78 .73 .57 .53 .51 .48
Lite2.5|.95 .93 .97 .94 .90 .88 .92 .87 .76 .75 .82 .77 .62 .57 .64 .59
Lite2|.95 .93 .97 .94 .89 .86 .95 .92 .77 .76 .83 .78 .64 .60 .74 .66
Lite2-0|.86 .83 .95 .88 .86 .82 .96 .92 .62 .61 .74 .68 .56 .53 .73 .72
"""
TABLE_4 = """
ROUGE-1|.92 .92 .93 .88 .76 .66 1.0 1.0 .61 .59 .66 .60 .47 .43 .30 .30
ROUGE-2|.96 .96 .97 .93 .82 .82 1.0 1.0 .63 .60 .67 .61 .43 .41 .30 .30
ROUGE-L|.93 .91 .95 .90 .82 .84 1.0 1.0 .56 .53 .62 .57 .40 .36 .29 .29
AutoSummENG|.94 .89 .96 .91 .51 .40 .60 .60 .64 .62 .68 .62 .33 .32 .07 .07
METEOR|.94 .93 .95 .88 .81 .76 .60 .60 .65 .62 .70 .65 .49 .46 .26 .26
BEwT-E|.96 .94 .98 .93 .82 .72 .60 .60 .65 .62 .72 .66 .43 .40 .28 .28
S3 pyr|.95 .93 .95 .89 .81 .78 1.0 1.0 .66 .63 .71 .65 .49 .45 .24 .24
S3 resp|.96 .94 .96 .90 .82 .82 1.0 1.0 .66 .64 .71 .65 .48 .44 .22 .22
PyrEval qual|.91 .88 .91 .84 - - - - .40 .38 .46 .42 - - - -
PyrEval comp|.90 .87 .93 .80 - - - - .41 .39 .49 .44 - - - -
BertScore|.91 .89 .98 .89 .69 .68 .60 .60 .61 .58 .67 .62 .43 .40 .12 .12
BertScore (idf)|.93 .90 .97 .89 .70 .68 .60 .60 .61 .58 .68 .63 .44 .41 .10 .10
MoverScore|.95 .92 .96 .90 .47 .46 .20 .20 .64 .61 .71 .65 .37 .34 .14 .14
QAEval EM|.94 .90 .97 .92 .83 .70 .60 .60 .48 .47 .58 .53 .22 .20 .46 .46
QAEval F1|.97 .93 .98 .95 .86 .78 .20 .20 .61 .58 .66 .60 .31 .29 .42 .42
Lite3|.98 .95 .99 .97 .78 .76 .20 .20 .74 .71 .78 .73 .49 .47 .48 .48
Lite2.5|.99 .96 .99 .97 .71 .70 .60 .60 .84 .81 .86 .82 .53 .51 .53 .53
Lite2|.99 .98 .99 .98 .74 .72 1.0 1.0 .87 .84 .88 .84 .56 .52 .66 .66
Lite2-0|.88 .85 .97 .90 .73 .72 1.0 1.0 .62 .60 .71 .66 .48 .47 .63 .63
"""
# Columns: TAC09, REALSumm, PyrXSum; the name of a Lite row ends with what was trained
# on.
TABLE_2 = """
ROUGE-1|.93 .89 .91 .92 .98 .96 .69 .63 .53 .50 .52 .50
ROUGE-2|.94 .95 .96 .95 .99 .95 .71 .64 .46 .43 .53 .51
ROUGE-L|.96 .92 .94 .95 .99 .95 .66 .59 .46 .42 .52 .51
AutoSummENG|.93 .93 .59 .60 .97 .94 .71 .64 .34 .34 .56 .53
METEOR|.95 .91 .94 .92 .99 .98 .73 .68 .54 .49 .58 .56
BEwT-E|.97 .96 .91 .89 .99 .98 .75 .68 .47 .45 .54 .52
S3 pyr|.97 .92 .96 .94 .99 .99 .75 .67 .54 .50 .57 .54
S3 resp|.96 .94 .97 .95 .99 .98 .74 .68 .52 .48 .57 .54
PyrEval qual|.94 .90 - - - - .49 .44 - - - -
PyrEval comp|.95 .86 - - - - .53 .45 - - - -
BertScore|.92 .94 .79 .83 .97 .90 .70 .65 .48 .46 .57 .54
BertScore (idf)|.93 .95 .79 .83 .97 .90 .71 .66 .48 .46 .58 .55
MoverScore|.97 .92 .44 .32 .98 .84 .74 .68 .39 .36 .57 .54
QAEval EM|.88 .94 .88 .86 .95 .95 .64 .55 .28 .27 .29 .27
QAEval F1|.93 .95 .91 .89 .95 .84 .70 .63 .38 .35 .46 .43
Lite3 TAC08|.99 .97 .92 .93 .97 .90 .78 .72 .53 .48 .56 .53
Lite2.5 TAC08|.99 .97 .92 .92 .98 .95 .82 .77 .58 .54 .66 .61
Lite2 TAC08|.99 .98 .94 .95 .99 .99 .83 .78 .61 .57 .71 .66
Lite3 TAC08+TAC09|- - .94 .95 .97 .88 - - .52 .49 .56 .53
Lite2.5 TAC08+TAC09|- - .93 .95 .97 .96 - - .57 .53 .66 .60
Lite2 TAC08+TAC09|- - .94 .95 .99 .98 - - .59 .56 .71 .65
Lite3 TAC08+TAC09+REALSumm|- - - - .97 .88 - - - - .50 .44
Lite2.5 TAC08+TAC09+REALSumm|- - - - .98 .94 - - - - .60 .55
Lite2 TAC08+TAC09+REALSumm|- - - - .99 .94 - - - - .70 .64
"""
# PyrXSum: the file of a system, its name in the paper, ROUGE-2 in points, gold Pyramid
# score.
TABLE_3 = """
fast-abs-rl|Fast Abs RL|7.02 .09
ptgen|PtGen|9.68 .09
convs2s|ConvS2S|11.58 .12
topic-convs2s|T-ConvS2S|11.46 .12
TransformerAbs|TransAbs|10.85 .07
BertSumAbs|BertAbs|15.63 .19
BertSumExtAbs|BertExtAbs|17.68 .22
t5-large|T5|21.01 .29
facebook-bart-large|BART|23.96 .31
google-pegasus|PEGASUS|26.23 .31
"""
README = {
    ("REALSumm", "abs_bart_out"): {
        "human": {"human": 0.48349483849483854},
        "SCUs": {"p2c": 0.50144, "l2c": 0.51597, "p3c": 0.43105, "l3c": 0.49641},
        "STUs": {"p2c": 0.45353, "l2c": 0.48114, "p3c": 0.38368, "l3c": 0.45765},
        "half": {"p2c": 0.47895, "l2c": 0.49904, "p3c": 0.40795, "l3c": 0.47839},
    },
    ("PyrXSum", "t5-large"): {
        "human": {"human": 0.29117532467532464},
        "SCUs": {"p2c": 0.35420, "l2c": 0.37358, "p3c": 0.27957, "l3c": 0.32770},
    },
}
TRAINED = {
    "TAC08": "shiyue/roberta-large-tac08",
    "TAC08+TAC09": "shiyue/roberta-large-tac08-tac09",
}
